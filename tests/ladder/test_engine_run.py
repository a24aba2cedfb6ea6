"""Read a worker's log: its indices are in range, and each number is used once."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from attncli.ladder import MOST_COUNTED, Entry, Part, _read
from attncli.sandbox.worker_process import Reply

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


def test_an_honest_log_is_read() -> None:
    found = _read("training", reply([["loss", 1, "float", 1, 1e-9], ["weights", 0, None, 2, 0.0]], {"rope": 3}, 3))
    entries = (Entry("loss", 1, "float", (0.0,), 1e-9), Entry("weights", 0, None, (0.0, 0.0), 0.0))
    assert found == Part("training", entries, {"rope": 3})


@given(ENTRIES, st.dictionaries(st.sampled_from(["rope", "x"]), SMALL | ODD) | ODD, st.integers(0, 12))
def test_whatever_a_log_says_each_number_is_taken_once_or_none_is(entries: list[Any], calls: Any, numbers: int) -> None:
    found = _read("training", reply(entries, calls, numbers))
    if found.stopped is not None:
        assert (found.stopped.reason, found.entries) == ("protocol", ())
        return
    assert sum(len(entry.values) for entry in found.entries) == numbers
    assert all(0 <= entry.number < MOST_COUNTED for entry in found.entries)


def test_counts_that_go_forth_and_back_are_refused_before_they_cost_anything() -> None:
    forth_and_back = [["x", 0, 0, 100_000, 0.0], ["x", 0, 0, -100_000, 0.0]] * 9999
    assert _read("training", reply(forth_and_back, {}, 100_000)).stopped is not None
