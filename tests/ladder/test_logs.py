"""Read a worker's log, each number once, and compare it with the reference log place by place, within its tolerance."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from attncli.i18n import quoted
from attncli.ladder import MOST_COUNTED, Entry, Part, Stop, _read, agree, first_difference
from attncli.sandbox.worker_process import Reply

FINITE = st.floats(-1e6, 1e6)


def entry(*values: float, facts: object = "float", place: str = "loss", number: int = 2) -> Entry:
    return Entry(place, number, facts, values, 1e-6)


@given(st.lists(FINITE, min_size=1, max_size=8))
def test_a_log_agrees_with_itself_and_with_what_lies_inside_the_tolerance(values: list[float]) -> None:
    largest = max(map(abs, values))
    assert agree(entry(*values), entry(*values))
    assert agree(entry(*values), entry(*(value + 0.9e-6 * largest for value in values)))
    assert not agree(entry(*values), entry(*(value + 2e-6 * largest + 1e-9 for value in values)))


def test_what_is_not_finite_equals_only_its_own_kind_and_other_facts_differ() -> None:
    nan, inf = math.nan, math.inf
    for value in (nan, inf):
        assert agree(entry(value, 3.0), entry(value, 3.0))
    for due, found in ((-inf, inf), (inf, 1e300), (1.0, nan), (nan, 1.0), (1.0, inf)):
        assert not agree(entry(due, 3.0), entry(found, 3.0))
    others = (entry(1.0, facts=["float", 1]), entry(1.0, place="update"), entry(1.0, number=3))
    for found in (*others, entry(1.0, 1.0), entry()):
        assert not agree(entry(1.0), found)


def test_the_first_place_that_differs_is_told_or_where_the_engine_stopped() -> None:
    due = Part("training", (entry(1.0), entry(2.0, number=3), entry(3.0, number=4)))
    seen = Part("training", (entry(1.0), entry(2.5, number=3), entry(9.0, number=4)))
    found = first_difference(due, seen)
    assert found is not None and (found.part, found.place, found.number) == ("training", "loss", 3)
    assert first_difference(due, due) is None
    short, long = Part("training", due.entries[:2]), Part("training", (*due.entries, entry(1.0)))
    assert [found and found.number for found in (first_difference(due, short), first_difference(due, long))] == [4, 4]
    stop = Stop("timeout", quoted("still running"), 10.0)
    found = first_difference(Part("training", (entry(1.0),)), Part("training", stopped=stop))
    assert found is not None and found.stopped == stop


ODD = st.sampled_from([-1, 2**53, 10**400, 1.5, 1e999, True, None, "1", [1], {}])
SMALL = st.integers(0, 4)
ENTRIES = st.lists(st.tuples(st.text(max_size=3), SMALL | ODD, st.none() | ODD, SMALL | ODD, st.floats() | ODD))


def reply(entries: list[Any], calls: Any, numbers: int, shape: int | None = None) -> Reply:
    told = json.dumps({"entries": entries, "calls": calls})
    tree = ["t", [["s", told], ["t", 0]]]
    table = [{"dtype": "float64", "shape": [numbers if shape is None else shape], "nbytes": 8 * numbers}]
    return Reply(
        {"op": "result", "outcomes": [{"tree": tree, "first": 0}], "tensors": table}, memoryview(bytes(8 * numbers))
    )


def test_an_honest_log_is_read_and_counts_that_go_forth_and_back_are_refused_before_they_cost_anything() -> None:
    found = _read("training", reply([["loss", 1, "float", 1, 1e-9], ["weights", 0, None, 2, 0.0]], {"rope": 3}, 3))
    entries = (Entry("loss", 1, "float", (0.0,), 1e-9), Entry("weights", 0, None, (0.0, 0.0), 0.0))
    assert found == Part("training", entries, {"rope": 3})
    forth_and_back = [["x", 0, 0, 100_000, 0.0], ["x", 0, 0, -100_000, 0.0]] * 9999
    assert _read("training", reply(forth_and_back, {}, 100_000)).stopped is not None


@given(ENTRIES, st.dictionaries(st.sampled_from(["rope", "x"]), SMALL | ODD) | ODD, st.integers(0, 12))
def test_whatever_a_log_says_each_number_is_taken_once_or_none_is(entries: list[Any], calls: Any, numbers: int) -> None:
    found = _read("training", reply(entries, calls, numbers))
    if found.stopped is not None:
        assert (found.stopped.reason, found.entries) == ("protocol", ())
        return
    assert sum(len(entry.values) for entry in found.entries) == numbers
    assert all(0 <= entry.number < MOST_COUNTED for entry in found.entries)
