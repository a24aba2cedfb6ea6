"""A card while it is asked, without a screen."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import pytest

from attncli.anki.exporter import side
from attncli.commands.cards import whole_card
from attncli.domain.card import Card, ChoiceCard, Option, build, card_of, types_of
from attncli.domain.log_row import Rating
from attncli.errors import UsageError
from attncli.export.summary import answer
from attncli.i18n import quoted
from attncli.practice.assistant import question_document
from attncli.practice.marking import Asked, right_order
from attncli.tui.widgets.answers import ChoiceAnswer
from attncli.tui.widgets.basics import Plain
from attncli.tui.widgets.card import CardVerdict, front_parts

BOTH = {"en": "text", "zh": "文字"}


def card(kind: str, **more: object) -> Card:
    return card_of({"id": "x-01", "topic": "x", "kind": kind, "level": "screen", "question": BOTH, **more})


def numeric() -> Card:
    return card("numeric", parameters=[["n", [["2", 2], ["3", 3]]]], compute="n * 2", unit="GiB", tolerance="1%")


def test_a_question_without_marking_follows_its_points() -> None:
    asked = Asked.of(card("qa", short=BOTH, points=[BOTH, BOTH]), Random(0))
    asked.submit()
    assert asked.revealed and asked.marked is None and asked.correct is None
    assert (asked.suggestion, asked.points) == (Rating.AGAIN, [])
    asked.ticked = {1, 0}
    assert (asked.suggestion, asked.points) == (Rating.GOOD, [0, 1])


def test_a_card_without_points_logs_none() -> None:
    assert Asked.of(card("qa", short=BOTH), Random(0)).points is None


def test_a_number_that_cannot_be_read_stays_unmarked() -> None:
    asked = Asked.of(numeric(), Random(0))
    asked.texts = ["four"]
    with pytest.raises(UsageError):
        asked.submit()
    assert not asked.revealed


def test_a_number_given_up_is_wrong_and_tells_the_answer() -> None:
    asked = Asked.of(numeric(), Random(0))
    asked.submit()
    assert asked.is_blank and asked.correct is False and asked.marked is not None
    assert asked.task is not None and f"{asked.task.expected} GiB" in asked.marked.detail.en


def test_a_right_number_suggests_good() -> None:
    asked = Asked.of(numeric(), Random(0))
    assert asked.task is not None
    asked.texts = [str(asked.task.expected)]
    asked.submit()
    assert asked.correct is True and asked.suggestion is Rating.GOOD and asked.points is None


def test_a_choice_is_right_only_with_exactly_the_right_options() -> None:
    options = [{"text": BOTH, "correct": True}, {"text": BOTH, "why_not": BOTH}, {"text": BOTH, "correct": True}]
    asked = Asked.of(card("choice", options=options, explain=BOTH), Random(0))
    assert sorted(asked.option_order) == [0, 1, 2] and asked.is_blank
    asked.chosen = {0}
    asked.submit()
    assert asked.correct is False
    asked.chosen = {0, 2}
    asked.submit()
    assert asked.correct is True


def test_a_right_order_is_found_from_the_pairs() -> None:
    items = [{"key": key, "text": BOTH} for key in "dcba"]
    ordering = card("ordering", items=items, before=[["a", "b"], ["b", "c"]], explain=BOTH)
    order = right_order(ordering)  # type: ignore[arg-type]
    assert order.index("a") < order.index("b") < order.index("c") and sorted(order) == list("abcd")


@pytest.mark.parametrize(
    ("ticked", "total", "rating"),
    [(3, 3, Rating.GOOD), (2, 3, Rating.HARD), (1, 3, Rating.AGAIN), (0, 3, Rating.AGAIN), (0, 0, Rating.GOOD)],
)
def test_ticked_points_suggest_a_rating(ticked: int, total: int, rating: Rating) -> None:
    asked = Asked.of(card("qa", short=BOTH, points=[BOTH] * total), Random(0))
    asked.ticked = set(range(ticked))
    assert asked.suggestion is rating


def test_a_wrong_order_can_be_mended_and_none_gives_up() -> None:
    items = [{"key": key, "text": BOTH} for key in "ab"]
    asked = Asked.of(card("ordering", items=items, before=[["a", "b"]], explain=BOTH), Random(0))
    asked.item_order = ["a"]
    with pytest.raises(UsageError, match="each of a, b once"):
        asked.submit()
    assert not asked.revealed
    asked.item_order = []
    asked.submit()
    assert asked.correct is False and [text.en for text in asked.told] == ["no answer", "text → text"]


def test_what_is_told_counts_the_blanks_of_several() -> None:
    blanks = [{"answer": answer, "form": "text"} for answer in ("one", "two")]
    asked = Asked.of(card("cloze", blanks=blanks, explain=BOTH), Random(0))
    asked.texts = ["one", "three"]
    asked.submit()
    assert [text.en for text in asked.told] == ["~ Partly right: 1 of 2", "Expected: 2. two"]
    asked.texts = ["one", "two"]
    asked.submit()
    assert [text.zh for text in asked.told] == ["✓ 正确", ""]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimCard(Card):
    """A kind that is asked as a choice."""

    kind = "claim"  # type: ignore[assignment]
    holds: bool

    @property
    def exercise(self) -> Card:
        common = {name: getattr(self, name) for name in types_of(Card)}
        options = (Option(quoted("True"), self.holds), Option(quoted("False"), not self.holds))
        return ChoiceCard(**common, options=options)


@pytest.mark.parametrize("holds", [True, False])
def test_a_variant_of_a_kind_needs_only_its_class(holds: bool) -> None:
    claim = build(ClaimCard, {"id": "x-01", "topic": "x", "level": "screen", "question": BOTH, "holds": holds})
    asked = Asked.of(claim, Random(0))
    asked.choose([asked.rows("en").index(str(holds))])
    asked.submit()
    assert (asked.correct, asked.suggestion) == (True, Rating.GOOD)
    assert f"✓ {holds}" in whole_card(claim, "en") and f"**{holds}**" in answer(claim, "zh")
    assert question_document(asked, "en")["kind"] == "claim"
    assert {type(part) for part in front_parts(asked, "en")} == {Plain, ChoiceAnswer, CardVerdict}
    assert f"<strong>{holds}</strong>" in side(claim, "en", lambda id: claim.question).answer
