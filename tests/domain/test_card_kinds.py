"""Each kind of card renders, marks an answer and yields its parts; no other code knows the kinds."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.anki.exporter import side
from attncli.domain.arithmetic import Number, read_number
from attncli.domain.card import Card, build
from attncli.domain.card_kinds import card_of
from attncli.domain.parts import Answer, Arrange, Choose, Entry, Fill, FindLine, Marked, Paragraph, Part
from attncli.errors import UsageError
from attncli.export.card_markdown import markdown, whole_card
from attncli.export.summary import answer
from attncli.i18n import LANGS, Localised, quoted
from attncli.practice.assistant import question_document
from attncli.practice.marking import Asked
from attncli.tui.widgets.answers import TypedAnswer
from attncli.tui.widgets.basics import Plain
from attncli.tui.widgets.card import CardVerdict, front_parts
from right_answer import right_answer_to

BOTH = {"en": "text", "zh": "文字"}


def card(kind: str, **more: object) -> Card:
    return card_of({"id": "x-01", "topic": "x", "kind": kind, "level": "screen", "question": BOTH, **more})


def both(en: str, zh: str = "文字") -> dict[str, str]:
    return {"en": en, "zh": zh}


CHOICE = card(
    "choice",
    options=[
        {"text": both("attention"), "correct": True},
        {"text": both("a convolution"), "why_not": both("It sees neighbours.", "它看邻居。")},
        {"text": both("an LSTM"), "why_not": BOTH},
    ],
)
SEVERAL = card("choice", options=[{"text": both(f"{n}"), "correct": n % 2 == 0, "why_not": BOTH} for n in range(5)])
CLOZE = card(
    "cloze",
    blanks=[{"answer": "QK^T", "accept": ["Q K^⊤"]}, {"answer": "sqrt(d)", "form": "algebra", "variables": ["d"]}],
)
STEPS = ["prefill", "decode", "detokenise"]
ORDERING = card(
    "ordering",
    items=[{"key": key, "text": both(key, f"{key} 步")} for key in STEPS],
    before=[["prefill", "decode"], ["decode", "detokenise"]],
)
FREE = card("ordering", items=[{"key": key, "text": both(key)} for key in "dcba"], before=[["a", "b"], ["b", "c"]])
DEBUG = card(
    "debug", code="k = cat(k)\nv = cat(v)\n", lines=[1], symptom=both("Shapes differ."), fix=both("dim=2", "dim=2")
)
EVERY = (CHOICE, SEVERAL, CLOZE, ORDERING, FREE, DEBUG)


@given(st.sampled_from(EVERY), st.integers(0, 10**6))
def test_the_right_answer_is_right_and_none_is_wrong_in_every_draw(card: Card, seed: int) -> None:
    drawn = card.draw(Random(seed))
    right, none = drawn.mark(right_answer_to(drawn)), drawn.mark(Answer())
    assert right is not None and right.correct and none is not None and not none.correct and none.detail
    assert drawn.entry() == card.draw(Random(seed)).entry()
    assert {row.text for row in drawn.entry().rows} == {row.text for row in card.entry().rows}


@pytest.mark.parametrize(("chosen", "correct"), [([0], True), ([1], False), ([], False), ([0, 1], False)])
def test_a_choice_is_right_if_exactly_the_right_options_are_chosen(chosen: list[int], correct: bool) -> None:
    marked = CHOICE.mark(Answer(chosen))
    assert marked is not None and marked.correct is correct


def test_a_wrong_option_says_why_not_in_both_languages() -> None:
    marked = CHOICE.mark(Answer([1]))
    assert marked is not None and "It sees neighbours." in marked.detail.en and "它看邻居。" in marked.detail.zh
    assert "attention" in marked.detail.en, "the missing right one is named as well"


def test_options_are_shown_in_any_order() -> None:
    orders = {CHOICE.draw(Random(seed)).drawn for seed in range(50)}
    assert len(orders) == 6 and all(sorted(order) == [0, 1, 2] for order in orders)


@pytest.mark.parametrize(
    ("answers", "parts"),
    [
        (["QK^T", "sqrt(d)"], (True, True)),
        (["q k^t", "d**0.5"], (True, True)),
        (["ＱＫ^T", "d^(1/2)"], (True, True)),
        (["Q K^⊤", "d"], (True, False)),
        (["KQ^T", "√d"], (False, True)),
        (["", ""], (False, False)),
    ],
)
def test_blanks_are_marked_one_by_one(answers: list[str], parts: tuple[bool, ...]) -> None:
    marked = CLOZE.mark(Answer(texts=answers))
    assert marked is not None and marked.parts == parts and marked.correct is all(parts)
    assert bool(marked.detail) is not all(parts)


@given(st.text(max_size=30))
def test_no_answer_to_a_blank_is_an_error(text: str) -> None:
    blank = {"answer": "2*i/d", "form": "algebra", "variables": ["i", "d"]}
    assert card("cloze", blanks=[blank]).mark(Answer(texts=[text])) is not None


def test_other_answers_that_count_are_printed() -> None:
    assert markdown(CLOZE.solution(), "en") == "1. `QK^T` (also `Q K^⊤`)\n2. `sqrt(d)`"
    assert markdown(card("cloze", blanks=[{"answer": "a`b"}]).solution(), "en") == "``a`b``"


def test_an_order_is_right_if_no_pair_is_broken() -> None:
    wrong = ORDERING.mark(Answer([1, 0, 2]))
    assert wrong is not None and not wrong.correct
    assert "“prefill” comes before “decode”" in wrong.detail.en and "“prefill 步”" in wrong.detail.zh
    told = ORDERING.mark(Answer())
    assert told is not None and told.detail.en == "prefill → decode → detokenise"
    for places in ([0], [0, 0, 1], [0, 1, 3]):
        with pytest.raises(UsageError, match="each of prefill, decode, detokenise once"):
            ORDERING.mark(Answer(places))


def test_items_never_start_in_a_right_order() -> None:
    for seed in range(100):
        drawn = ORDERING.draw(Random(seed))
        marked = drawn.mark(drawn.entry().start())
        assert marked is not None and not marked.correct


def test_an_order_that_is_not_the_only_one_is_printed_with_its_pairs() -> None:
    assert markdown(ORDERING.solution(), "en") == "1. prefill\n2. decode\n3. detokenise"
    assert markdown(FREE.solution(), "en") == (
        "One right order:\n\n1. d\n2. a\n3. b\n4. c\n\nRequired order:\n\n- a → b\n- b → c"
    )


def test_a_debug_card_wants_the_line_and_tells_symptom_and_fix() -> None:
    right, wrong = DEBUG.mark(Answer([0])), DEBUG.mark(Answer([1]))
    assert right is not None and right.correct and wrong is not None and not wrong.correct
    assert "Shapes differ." in wrong.detail.en and "dim=2" in wrong.detail.zh
    assert markdown(DEBUG.solution(), "en") == "Line **1**: Shapes differ.\n\nFixed:\n\n```python\ndim=2\n```"


@pytest.mark.parametrize(
    ("card", "entry"),
    [(CHOICE, Choose), (CLOZE, Fill), (ORDERING, Arrange), (DEBUG, FindLine), (card("qa", short=BOTH), Entry)],
)
def test_a_kind_says_how_it_is_answered(card: Card, entry: type[Entry]) -> None:
    assert type(card.entry()) is entry


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateCard(Card):
    """A card that asks for an order of magnitude."""

    kind = "estimate"  # type: ignore[assignment]
    around: Number

    def entry(self) -> Entry:
        return Fill(is_number=True, unit="GiB")

    def mark(self, answer: Answer) -> Marked:
        near = not answer.is_blank and 0.3 <= read_number(answer.texts[0], "GiB") / self.around <= 3
        return Marked(near, quoted(f"about {self.around} GiB"))

    def solution(self) -> list[Part]:
        return [Paragraph(quoted(f"about **{self.around}** GiB"))]


@pytest.mark.parametrize("lang", LANGS)
def test_a_kind_needs_only_its_class(lang: str) -> None:
    estimate = build(EstimateCard, {"id": "x-01", "topic": "x", "level": "screen", "question": BOTH, "around": 140})
    asked = Asked.of(estimate, Random(0))
    asked.answer.texts = ["0.1 TiB"]
    asked.submit()
    assert asked.correct is True and asked.right_answer == Localised("about 140 GiB", "about 140 GiB")
    assert "about **140** GiB" in whole_card(estimate, lang) and "about **140** GiB" in answer(estimate, lang)
    assert question_document(asked, "en")["how"] == "text: a number in GiB"
    assert {type(part) for part in front_parts(asked, lang)} == {Plain, TypedAnswer, CardVerdict}
    assert "<strong>140</strong>" in side(estimate, lang, lambda id: estimate.question).answer
