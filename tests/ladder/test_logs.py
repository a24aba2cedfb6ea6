"""Compare two logs place by place, within the tolerance of the reference log."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.i18n import quoted
from attncli.ladder import Entry, Part, Stop, agree, first_difference

FINITE = st.floats(-1e6, 1e6)


def entry(*values: float, facts: object = "float", place: str = "loss", number: int = 2) -> Entry:
    return Entry(place, number, facts, values, 1e-6)


@given(st.lists(FINITE, min_size=1, max_size=8))
def test_a_log_agrees_with_itself_and_with_what_lies_inside_the_tolerance(values: list[float]) -> None:
    largest = max(map(abs, values))
    assert agree(entry(*values), entry(*values))
    assert agree(entry(*values), entry(*(value + 0.9e-6 * largest for value in values)))
    assert not agree(entry(*values), entry(*(value + 2e-6 * largest + 1e-9 for value in values)))


@pytest.mark.parametrize(
    ("due", "found", "same"),
    [
        (math.nan, math.nan, True),
        (math.inf, math.inf, True),
        (-math.inf, math.inf, False),
        (math.inf, 1e300, False),
        (1.0, math.nan, False),
        (math.nan, 1.0, False),
        (1.0, math.inf, False),
    ],
)
def test_what_is_not_finite_equals_only_its_own_kind(due: float, found: float, same: bool) -> None:
    assert agree(entry(due, 3.0), entry(found, 3.0)) is same


@pytest.mark.parametrize(
    "found",
    [entry(1.0, facts=["float", 1]), entry(1.0, place="update"), entry(1.0, number=3), entry(1.0, 1.0), entry()],
)
def test_other_facts_places_and_counts_differ(found: Entry) -> None:
    assert not agree(entry(1.0), found)


def test_the_first_place_that_differs_is_told() -> None:
    due = Part("training", (entry(1.0), entry(2.0, number=3), entry(3.0, number=4)))
    seen = Part("training", (entry(1.0), entry(2.5, number=3), entry(9.0, number=4)))
    found = first_difference(due, seen)
    assert found is not None and (found.part, found.place, found.number) == ("training", "loss", 3)
    assert first_difference(due, due) is None


def test_a_log_that_ends_early_or_late_differs_where_it_ends() -> None:
    due = Part("training", (entry(1.0), entry(2.0, number=3)))
    short, long = Part("training", due.entries[:1]), Part("training", (*due.entries, entry(1.0)))
    assert [found and found.number for found in (first_difference(due, short), first_difference(due, long))] == [3, 3]


def test_an_engine_that_stopped_differs_by_that() -> None:
    stop = Stop("timeout", quoted("still running"), 10.0)
    found = first_difference(Part("training", (entry(1.0),)), Part("training", stopped=stop))
    assert found is not None and found.stopped == stop
