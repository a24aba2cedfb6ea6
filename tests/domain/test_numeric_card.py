from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.arithmetic import read_number
from attncli.domain.card_kinds import NumericCard, Slip
from attncli.domain.parts import Answer, Marked
from attncli.errors import UsageError
from attncli.export.card_markdown import markdown
from attncli.i18n import Localised


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
    assert sorted((card.wording.en, card.expected) for card in drawn) == [
        ("2 layers in bf16: how many GiB?", 4),
        ("2 layers in fp8: how many GiB?", 2),
        ("4 layers in bf16: how many GiB?", 8),
        ("4 layers in fp8: how many GiB?", 4),
    ]
    assert "2 层、bf16：多少 GiB？" in {card.wording.zh for card in drawn}


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("1.5", "", 1.5),
        ("1.5e3", "", 1500),
        ("1.5E+3", "", 1500),
        (".5", "", 0.5),
        ("-3", "", -3),
        ("−3", "", -3),
        ("3/4", "", 0.75),
        ("2^30", "", 2**30),
        ("4 × 12288^2", "", 4 * 12288**2),
        ("57,982,058,496", "", 57_982_058_496),
        ("1_000", "", 1000),
        ("≈ 48", "", 48),
        ("48 GiB", "GiB", 48),
        ("48gib", "GiB", 48),
        ("48", "GiB", 48),
        ("1.2 TiB", "GiB", 1228.8),
        ("51.5GB", "GiB", 51.5e9 / 2**30),
        ("1750亿", "", 175e9),
        ("1750 亿", "billion", 175),
        ("1.75 万亿", "billion", 1750),
        ("175B", "", 175e9),
        ("7 K", "", 7000),
        ("１７５０亿", "", 175e9),
        ("１．５", "", 1.5),
        ("75%", "", 0.75),
        ("75", "%", 75),
        ("0.5 TB/s", "GB/s", 500),
        ("5 ms", "s", 0.005),
        ("12 tokens", "tokens", 12),
        ("007", "", 7),
    ],
)
def test_numbers_are_read_in_many_notations(text: str, unit: str, value: float) -> None:
    assert read_number(text, unit) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "unit", "message"),
    [
        ("", "", "is not a number; enter one, e.g. 1.5, 1.5e3, 3/4 or 175B"),
        ("many", "GiB", "is not a number; .*48 GiB"),
        ("1,5", "", "a comma only separates thousands"),
        ("1/0", "", "divides by zero"),
        ("2**99999", "", "cannot read"),
        ("3 GiB", "s", "wrong unit “GiB”; answer in s"),
        ("3 parsecs", "", "unexpected unit “parsecs”; enter a plain number"),
        ("9" * 300, "", "is not a number"),
        ("__import__", "", "is not a number"),
    ],
)
def test_a_slip_of_notation_is_no_wrong_answer(text: str, unit: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_number(text, unit)


@given(st.text(max_size=60), st.sampled_from(["", "GiB", "billion", "%", "tokens", "GB/s"]))
def test_whatever_is_typed_is_a_number_or_a_readable_refusal(text: str, unit: str) -> None:
    try:
        assert read_number(text, unit) is not None
    except UsageError as error:
        assert len(str(error)) < 400


@pytest.mark.parametrize(
    ("expected", "tolerance", "text", "correct"),
    [
        (100, "2%", "102", True),
        (100, "2%", "98", True),
        (100, "2%", "102.1", False),
        (100, "0.5", "100.5", True),
        (100, "0.5", "100.6", False),
        (0.1 + 0.2, "0", "0.3", True),
        (-100, "2%", "-99", True),
        (48, "2%", "51.5 GB", True),
        (48, "2%", "48 GB", False),
    ],
)
def test_tolerance_is_relative_with_a_percent_sign_and_absolute_without(
    expected: float, tolerance: str, text: str, correct: bool
) -> None:
    found = marked(numeric(compute=repr(expected), tolerance=tolerance), text)
    assert found.correct is correct
    assert f"{expected:g}"[:3] in found.detail.en.replace(",", "")


def test_giving_up_is_wrong_and_tells_the_number() -> None:
    told = numeric(compute="57_982_058_496", unit="").mark(Answer())
    assert not told.correct and told.detail.en == "The answer is 57,982,058,496."


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
    for factor, said in ((0.5, ("K without V.", "只算了 K。")), (2, ("The gradient too.", "多算了梯度。"))):
        found = marked(card, repr(card.expected * factor * (off if factor < 1 else 1)))
        assert not found.correct
        assert found.detail.en.endswith(f". {said[0]}") and found.detail.zh.endswith(f"。{said[1]}")


@pytest.mark.parametrize(("factor", "says"), [(2.04, " And more."), (2.01, " The gradient too."), (3, "GiB.")])
def test_of_two_slips_that_fit_the_nearer_is_told(factor: float, says: str) -> None:
    card = slipping().draw(Random(0))
    assert marked(card, repr(factor * card.expected)).detail.en.endswith(says)


def test_the_solution_goes_from_the_formula_over_the_numbers_to_the_unit() -> None:
    shown = markdown(slipping().solution(), "en")
    assert shown.startswith(
        "**48 GiB** (±2%)\n\n```\n2 × layers × 2^30\n  = 2 × 24 × 2^30\n  = 51,539,607,552 B\n  = 48 GiB\n```"
    )
    assert "- Not 24 GiB: K without V." in shown
