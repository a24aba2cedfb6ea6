"""Parse a wrong solution's docstring, plant mistakes in a source, and name axes."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain import challenge
from attncli.domain.challenge import Field, Repair, drawn, fields_in, mistake_in, named, planted, spans, spread
from attncli.i18n import Localised

WHOLE = """Divides by D − 1 (the default of torch.var): it is
the unbiased variance.
方差除以了 D − 1（torch.var
的默认行为）。

symptom: Off by √((D−1)/D): 13 % at D = 4,
NaN at D = 1.
症状：差一个 √((D−1)/D)：D = 4 时差 13 %，
D = 1 时是 NaN。

cards: norm-05, norm-06,
norm-07
rung: hardened
"""
WORDS = st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1, max_size=30).map(" ".join)
CHINESE = st.from_regex(r"[\u4e00-\u9fa5]{1,40}", fullmatch=True)
SOURCE = "def double(x):\n    if x is None:\n        return 0\n    y = x + x  # (T,)\n\n    return y\n"
FOUR = [Repair(name, "", "") for name in ("a", "b", "c", "d", "e")]
NAMES = st.lists(st.sampled_from(["B", "T", "S", "d", "dv", "t+1", "H·d_v"]), max_size=5)
NUMBERS = st.lists(st.integers(0, 99), max_size=6)


def test_every_field_is_read_over_its_lines_and_in_the_summary_there_is_none() -> None:
    mistake = mistake_in(WHOLE)
    assert mistake.says.en == "Divides by D − 1 (the default of torch.var): it is the unbiased variance."
    assert mistake.says.zh == "方差除以了 D − 1（torch.var的默认行为）。"
    assert mistake.symptom.en == "Off by √((D−1)/D): 13 % at D = 4, NaN at D = 1."
    assert mistake.symptom.zh == "差一个 √((D−1)/D)：D = 4 时差 13 %，D = 1 时是 NaN。"
    assert (mistake.cards, mistake.rung) == (("norm-05", "norm-06", "norm-07"), "hardened")
    places = {"summary": 1, "Chinese summary": 3, "symptom": 6, "症状": 8, "cards": 11, "rung": 13}
    assert {field.name: field.line for field in fields_in(WHOLE)} == places
    assert fields_in("Note: it is off.\n注意：有偏差。") == [
        Field("summary", "Note: it is off.", 1),
        Field("Chinese summary", "注意：有偏差。", 2),
    ]
    assert Field("sympton", "off", 3) in fields_in("A.\n\nsympton: off")


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert mistake_in(text).rung in ("solved", "hardened")


@given(WORDS, CHINESE, WORDS, CHINESE, st.sampled_from(["solved", "hardened"]))
def test_what_was_written_is_read_and_what_is_missing_is_empty(
    says: str, says_zh: str, symptom: str, symptom_zh: str, rung: str
) -> None:
    text = f"{says}\n{says_zh}\n\nsymptom: {symptom}\n症状：{symptom_zh}\n\ncards: att-01\nrung: {rung}\n"
    mistake = mistake_in(text)
    assert (mistake.says, mistake.symptom) == (Localised(says, says_zh), Localised(symptom, symptom_zh))
    assert (mistake.cards, mistake.rung) == (("att-01",), rung)
    for docstring in ("", "\n\n", "A mistake."):
        mistake, alone = mistake_in(docstring), docstring.strip()
        assert (mistake.says, mistake.symptom, mistake.cards) == (Localised(alone, alone), Localised("", ""), ())
        assert mistake.rung == "solved"


def test_lines_are_found_whatever_their_indentation_and_only_whole():
    assert [(s.first, s.indentation) for s in spans(SOURCE, "return 0")] == [(2, "        ")]
    assert spans(SOURCE, "x + x") == [] and spans(SOURCE, "y = x + x") == [] and spans(SOURCE, "") == []
    assert [(s.first, s.end) for s in spans(SOURCE, "if x is None:\n    return 0\n")] == [(1, 3)]
    assert spans(SOURCE, "if x is None:\nreturn 0") == []
    assert [(s.first, s.end) for s in spans(SOURCE, "y = x + x  # (T,)\n\nreturn y")] == [(3, 6)]


def test_a_mistake_takes_the_indentation_of_what_it_replaces() -> None:
    grown = planted(SOURCE, [Repair("w", "return 0", "x = 1\nreturn x"), Repair("v", "return y", "")])
    assert grown == SOURCE.replace("return 0", "x = 1\n        return x").replace("    return y\n", "")
    for source, find, places in (
        (SOURCE, "return z", 0),
        (SOURCE, "return y\nreturn y", 0),
        (SOURCE * 2, "return y", 2),
    ):
        with pytest.raises(ValueError, match=f"{places} places"):
            planted(source, [Repair("w", find, "")])


@given(st.permutations(range(6)), st.sets(st.integers(0, 5)))
def test_in_whatever_order_they_are_planted_the_file_is_the_same(order, chosen):
    source = "".join(f"line {k}\n" for k in range(6))
    repairs = [Repair(str(k), f"line {k}", f"bug {k}\nand more") for k in order if k in chosen]
    due = "".join(f"bug {k}\nand more\n" if k in chosen else f"line {k}\n" for k in range(6))
    assert planted(source, repairs) == due


def test_rounds_take_every_choice_in_turn_and_a_number_gives_the_same_again() -> None:
    for count in range(1, challenge.MOST_BUGS + 1):
        every = {frozenset(chosen) for chosen in combinations(FOUR, count)}
        assert {frozenset(drawn("sdpa", FOUR, count, number)) for number in range(len(every))} == every
        assert drawn("sdpa", FOUR, count, 2) == drawn("sdpa", FOUR, count, 2 + 7 * len(every))
    assert [len(chosen) for chosen in challenge.choices(FOUR, 2)] == [0] + [1] * 5 + [2] * 10, "from none to the most"


@given(NUMBERS, st.one_of(st.none(), NAMES))
def test_every_number_is_shown_and_names_only_if_they_fit(numbers: list[int], names: list[str] | None) -> None:
    shown = named(numbers, names)
    inside = shown.removeprefix("[").removesuffix("]")
    assert [int(part.rpartition("=")[2]) for part in inside.split(", ") if part] == numbers
    if names is None or len(names) != len(numbers):
        assert shown == str(numbers)
    assert named([2, 1, 3], ["", "T", "d"]) == "[2, T=1, d=3]"
    assert named([], []) == "[]"


@given(NAMES.filter(bool), st.integers(0, 8))
def test_dots_take_the_axes_that_are_left(names: list[str], dimensions: int) -> None:
    assert spread(" ".join(names), dimensions) == (names if dimensions == len(names) else [])
    for at in range(len(names) + 1):
        says = " ".join([*names[:at], "...", *names[at:]])
        assert spread(says, len(names) + dimensions) == [*names[:at], *[""] * dimensions, *names[at:]]
    if 0 < dimensions < len(names):
        assert spread(f"... {' '.join(names)}", dimensions) == names[-dimensions:], "leading axes may be missing"


@given(st.text("BT. ", max_size=12), st.integers(0, 6))
def test_there_is_a_name_for_every_axis_or_none_at_all(says: str, dimensions: int) -> None:
    assert len(spread(says, dimensions)) in (0, dimensions)
    for unfit, axes in (("B ... D", 1), ("B T ...", 1), ("... d", 0), ("... T ... d", 3), ("B T", 0)):
        assert spread(unfit, axes) == []
