"""Each kind of card marks an answer and renders its solution."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.arithmetic import read_number
from attncli.domain.card import Card
from attncli.domain.card_kinds import NumericCard, Slip, card_of
from attncli.domain.parts import Answer, Marked
from attncli.errors import UsageError
from attncli.export.card_markdown import markdown
from attncli.i18n import Localised
from right_answer import right_answer_to

BOTH = {"en": "text", "zh": "文字"}


def card(kind: str, **more: object) -> Card:
    return card_of({"id": "x-01", "topic": "x", "kind": kind, "level": "screen", "question": BOTH, **more})


def both(en: str, zh: str = "文字") -> dict[str, str]:
    return {"en": en, "zh": zh}


def answered(card: Card, answer: Answer) -> Marked:
    found = card.mark(answer)
    assert found is not None
    return found


RIGHT, SEES = {"text": both("attention"), "correct": True}, both("It sees neighbours.", "它看邻居。")
WRONG = [{"text": both("a convolution"), "why_not": SEES}, {"text": both("an LSTM"), "why_not": BOTH}]
CHOICE = card("choice", options=[RIGHT, *WRONG])
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
    none = answered(drawn, Answer())
    assert answered(drawn, right_answer_to(drawn)).correct and not none.correct and none.detail
    assert drawn.entry() == card.draw(Random(seed)).entry()
    assert {row.text for row in drawn.entry().rows} == {row.text for row in card.entry().rows}


def test_a_choice_is_right_if_exactly_the_right_options_are_chosen() -> None:
    for chosen, correct in (([0], True), ([1], False), ([], False), ([0, 1], False)):
        assert answered(CHOICE, Answer(chosen)).correct is correct
    wrong = answered(CHOICE, Answer([1]))
    assert "It sees neighbours." in wrong.detail.en and "它看邻居。" in wrong.detail.zh
    assert "attention" in wrong.detail.en, "the missing right one is named as well"
    orders = {CHOICE.draw(Random(seed)).drawn for seed in range(50)}
    assert len(orders) == 6 and all(sorted(order) == [0, 1, 2] for order in orders)


def test_blanks_are_marked_one_by_one() -> None:
    for answers, parts in (
        *((["QK^T", "sqrt(d)"], (True, True)), (["q k^t", "d**0.5"], (True, True)), (["", ""], (False, False))),
        *((["ＱＫ^T", "d^(1/2)"], (True, True)), (["Q K^⊤", "d"], (True, False)), (["KQ^T", "√d"], (False, True))),
    ):
        found = answered(CLOZE, Answer(texts=answers))
        assert found.parts == parts and found.correct is all(parts) and bool(found.detail) is not all(parts), answers


@given(st.text(max_size=30))
def test_no_answer_to_a_blank_is_an_error_and_others_that_count_are_printed(text: str) -> None:
    blank = {"answer": "2*i/d", "form": "algebra", "variables": ["i", "d"]}
    assert card("cloze", blanks=[blank]).mark(Answer(texts=[text])) is not None
    assert markdown(CLOZE.solution(), "en") == "1. `QK^T` (also `Q K^⊤`)\n2. `sqrt(d)`"
    assert markdown(card("cloze", blanks=[{"answer": "a`b"}]).solution(), "en") == "``a`b``"


def test_an_order_is_right_if_no_pair_is_broken() -> None:
    wrong = answered(ORDERING, Answer([1, 0, 2]))
    assert not wrong.correct
    assert "“prefill” comes before “decode”" in wrong.detail.en and "“prefill 步”" in wrong.detail.zh
    assert answered(ORDERING, Answer()).detail.en == "prefill → decode → detokenise"
    for places in ([0], [0, 0, 1], [0, 1, 3]):
        with pytest.raises(UsageError, match="each of prefill, decode, detokenise once"):
            ORDERING.mark(Answer(places))
    for seed in range(100):
        drawn = ORDERING.draw(Random(seed))
        assert not answered(drawn, drawn.entry().start()).correct, "items never start in a right order"
    assert markdown(ORDERING.solution(), "en") == "1. prefill\n2. decode\n3. detokenise"
    assert markdown(FREE.solution(), "en") == (
        "One right order:\n\n1. d\n2. a\n3. b\n4. c\n\nRequired order:\n\n- a → b\n- b → c"
    )


def test_a_debug_card_wants_the_line_and_tells_symptom_and_fix() -> None:
    wrong = answered(DEBUG, Answer([1]))
    assert answered(DEBUG, Answer([0])).correct and not wrong.correct
    assert "Shapes differ." in wrong.detail.en and "dim=2" in wrong.detail.zh
    assert markdown(DEBUG.solution(), "en") == "Line **1**: Shapes differ.\n\nFixed:\n\n```python\ndim=2\n```"


def numeric(**fields: Any) -> NumericCard:
    fields = {"question": Localised("How many?", "多少？"), "unit": "GiB", "tolerance": "1%", **fields}
    return NumericCard(id="x", topic="x", level="screen", **fields)


def marked(card: NumericCard, text: str) -> Marked:
    return card.mark(Answer(texts=[text]))


def test_parameters_are_drawn_afresh_and_fill_both_questions() -> None:
    card = numeric(
        question=Localised("{{layers}} layers in {{ dtype }}: how many GiB?", "{{layers}} 层、{{dtype}}：多少 GiB？"),
        parameters=(("layers", (("2", 2), ("4", 4))), ("dtype", (("bf16", 2), ("fp8", 1)))),
        compute="layers * dtype",
    )
    assert card.wording.en == "2 layers in bf16: how many GiB?"
    drawn = {card.draw(Random(seed)) for seed in range(40)}
    assert len(drawn) == 4
    expected = {"2 layers in bf16": 4, "2 layers in fp8": 2, "4 layers in bf16": 8, "4 layers in fp8": 4}
    assert {card.wording.en.removesuffix(": how many GiB?"): card.expected for card in drawn} == expected
    assert "2 层、bf16：多少 GiB？" in {card.wording.zh for card in drawn}


def test_numbers_are_read_in_many_notations() -> None:
    plain = {"1.5": 1.5, "1.5e3": 1500, "1.5E+3": 1500, ".5": 0.5, "-3": -3, "−3": -3, "3/4": 0.75, "2^30": 2**30}
    plain |= {"4 × 12288^2": 4 * 12288**2, "57,982,058,496": 57_982_058_496, "1_000": 1000, "≈ 48": 48, "007": 7}
    plain |= {"1750亿": 175e9, "１７５０亿": 175e9, "175B": 175e9, "7 K": 7000, "１．５": 1.5, "75%": 0.75}
    for text, unit, value in (
        *((text, "", value) for text, value in plain.items()),
        *(("48 GiB", "GiB", 48), ("48gib", "GiB", 48), ("48", "GiB", 48), ("1.2 TiB", "GiB", 1228.8)),
        *(("51.5GB", "GiB", 51.5e9 / 2**30), ("1750 亿", "billion", 175), ("1.75 万亿", "billion", 1750)),
        *(("75", "%", 75), ("0.5 TB/s", "GB/s", 500), ("5 ms", "s", 0.005), ("12 tokens", "tokens", 12)),
    ):
        assert read_number(text, unit) == pytest.approx(value), (text, unit)


def test_a_slip_of_notation_is_no_wrong_answer() -> None:
    for text, unit, message in (
        ("", "", "is not a number; enter one, e.g. 1.5, 1.5e3, 3/4 or 175B"),
        ("many", "GiB", "is not a number; .*48 GiB"),
        ("1,5", "", "a comma only separates thousands"),
        ("1/0", "", "divides by zero"),
        ("2**99999", "", "cannot read"),
        ("3 GiB", "s", "wrong unit “GiB”; answer in s"),
        ("3 parsecs", "", "unexpected unit “parsecs”; enter a plain number"),
        ("9" * 300, "", "is not a number"),
        ("__import__", "", "is not a number"),
    ):
        with pytest.raises(UsageError, match=message):
            read_number(text, unit)


@given(st.text(max_size=60), st.sampled_from(["", "GiB", "billion", "%", "tokens", "GB/s"]))
def test_whatever_is_typed_is_a_number_or_a_readable_refusal(text: str, unit: str) -> None:
    try:
        assert read_number(text, unit) is not None
    except UsageError as error:
        assert len(str(error)) < 400


def test_tolerance_is_relative_with_a_percent_sign_and_absolute_without() -> None:
    for expected, tolerance, text, correct in (
        *((100, "2%", "102", True), (100, "2%", "98", True), (100, "2%", "102.1", False), (-100, "2%", "-99", True)),
        *((100, "0.5", "100.5", True), (100, "0.5", "100.6", False), (0.1 + 0.2, "0", "0.3", True)),
        *((48, "2%", "51.5 GB", True), (48, "2%", "48 GB", False)),
    ):
        found = marked(numeric(compute=repr(expected), tolerance=tolerance), text)
        assert found.correct is correct, (tolerance, text)
        assert f"{expected:g}"[:3] in found.detail.en.replace(",", "")
    given_up = numeric(compute="57_982_058_496", unit="").mark(Answer())
    assert not given_up.correct and given_up.detail.en == "The answer is 57,982,058,496."


def slipping(unit: str = "GiB") -> NumericCard:
    return numeric(
        question=Localised("{{layers}} layers?", "{{layers}} 层？"),
        parameters=(("layers", (("24", 24), ("32", 32), ("80", 80))),),
        compute="2 * layers * 2 ** 30",
        compute_unit="B",
        unit=unit,
        tolerance="2%",
        slips=(
            Slip("layers * 2 ** 30", Localised("K without V.", "只算了 K。")),
            Slip("4 * layers * 2 ** 30", Localised("The gradient too.", "多算了梯度。")),
            Slip("4.1 * layers * 2 ** 30", Localised("And more.", "还多。")),
        ),
    )


@given(st.integers(0, 10**6), st.sampled_from(["GiB", "GB", "MiB"]), st.floats(0.982, 1.018))
def test_an_answer_that_is_a_usual_slip_is_told_which(seed: int, unit: str, off: float) -> None:
    card = slipping(unit).draw(Random(seed))
    for factor, said in ((0.5 * off, ("K without V.", "只算了 K。")), (2, ("The gradient too.", "多算了梯度。"))):
        found = marked(card, repr(card.expected * factor))
        assert not found.correct
        assert found.detail.en.endswith(f". {said[0]}") and found.detail.zh.endswith(f"。{said[1]}")
    for factor, says in ((2.04, " And more."), (2.01, " The gradient too."), (3, f"{unit}.")):
        assert marked(card, repr(factor * card.expected)).detail.en.endswith(says), "the nearer of two is told"


def test_the_solution_goes_from_the_formula_over_the_numbers_to_the_unit() -> None:
    shown = markdown(slipping().solution(), "en")
    assert shown.startswith(
        "**48 GiB** (±2%)\n\n```\n2 × layers × 2^30\n  = 2 × 24 × 2^30\n  = 51,539,607,552 B\n  = 48 GiB\n```"
    )
    assert "- Not 24 GiB: K without V." in shown
