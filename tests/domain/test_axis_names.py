"""Describe shapes and positions with the names of their axes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.challenge import named, spread

NAMES = st.lists(st.sampled_from(["B", "T", "S", "d", "dv", "t+1", "H·d_v"]), max_size=5)
NUMBERS = st.lists(st.integers(0, 99), max_size=6)


@given(NUMBERS, NAMES)
def test_every_number_is_shown_in_order_whatever_the_names(numbers: list[int], names: list[str]) -> None:
    shown = named(numbers, names)
    inside = shown.removeprefix("[").removesuffix("]")
    assert [int(part.rpartition("=")[2]) for part in inside.split(", ") if part] == numbers


@given(NUMBERS, st.one_of(st.none(), NAMES))
def test_names_that_do_not_fit_are_left_out(numbers: list[int], names: list[str] | None) -> None:
    if names is None or len(names) != len(numbers):
        assert named(numbers, names) == str(numbers)


def test_an_axis_without_a_name_is_its_number() -> None:
    assert named([2, 1, 3], ["", "T", "d"]) == "[2, T=1, d=3]"
    assert named([], []) == "[]"


@given(NAMES.filter(bool), st.integers(0, 4))
def test_dots_take_the_axes_that_are_left(names: list[str], more: int) -> None:
    for at in range(len(names) + 1):
        says = " ".join([*names[:at], "...", *names[at:]])
        assert spread(says, len(names) + more) == [*names[:at], *[""] * more, *names[at:]]


@given(NAMES, st.integers(0, 8))
def test_without_dots_the_number_of_dimensions_must_be_that_of_the_names(names: list[str], dimensions: int) -> None:
    assert spread(" ".join(names), dimensions) == (names if dimensions == len(names) else [])


@given(NAMES.filter(bool), st.integers(1, 5))
def test_leading_axes_may_be_missing_behind_leading_dots(names: list[str], dimensions: int) -> None:
    if dimensions < len(names):
        assert spread(f"... {' '.join(names)}", dimensions) == names[-dimensions:]


@given(st.text("BT. ", max_size=12), st.integers(0, 6))
def test_there_is_a_name_for_every_axis_or_none_at_all(says: str, dimensions: int) -> None:
    assert len(spread(says, dimensions)) in (0, dimensions)


@pytest.mark.parametrize(
    ("says", "dimensions"), [("B ... D", 1), ("B T ...", 1), ("... d", 0), ("... T ... d", 3), ("B T", 0)]
)
def test_what_does_not_fit_names_nothing(says: str, dimensions: int) -> None:
    assert spread(says, dimensions) == []
