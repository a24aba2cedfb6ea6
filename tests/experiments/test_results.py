"""Check the result of an experiment field by field, and name each error with its position."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.errors import ExperimentFailed
from attncli.experiments.runner import SeedOutcome, outcome_of


def both(text: str) -> dict[str, str]:
    return {"en": text, "zh": text}


GOOD: dict[str, Any] = {
    "columns": [both("n"), both("what")],
    "rows": [[1, "one"], [2.5, both("two")]],
    "plots": [
        {"kind": "line", "title": both("l"), "x": [1, 2], "series": [{"name": both("s"), "y": [3, 4]}], "log": "xy"},
        {"kind": "bar", "title": both("b"), "x": ["a", both("b")], "series": [{"name": both("s"), "y": [-1, 4]}]},
        {"kind": "heat", "title": both("h"), "rows": ["a"], "columns": [1, 2], "values": [[0.5, 1]]},
    ],
    "checks": [{"says": both("it holds"), "holds": True, "got": "1", "due": "> 0"}],
    "seen": both("seen"),
}
WRONG: list[tuple[list[Any], Any, str]] = [
    (["columns"], None, "columns is not a list"),
    (["columns", 0], "n", "columns[0] is not a text in both languages"),
    (["columns", 0], {"en": "n"}, "columns[0] is not a text in both languages"),
    (["columns", 0], {"en": "n", "zh": 3}, "columns[0] is not a text of at most 600 characters"),
    (["rows", 1], [1], "rows[1] is not a list of 2 cells"),
    (["rows"], [[1, 2]] * 201, "rows has 201 entries; the limit is 200"),
    (["rows", 0, 0], None, "rows[0][0] is not a finite number"),
    (["rows", 0, 1], "x" * 601, "rows[0][1] is not a text of at most 600 characters"),
    (["rows", 0, 0], 10**400, "rows[0][0] is not a finite number"),
    (["plots"], [], "plots is empty"),
    (["plots", 0, "kind"], "pie", "plots[0].kind is not one of 'line', 'bar', 'heat'"),
    (["plots", 0, "log"], "z", "plots[0].log is not one of '', 'x', 'y', 'xy'"),
    (["plots", 0, "x"], [], "plots[0].x is empty"),
    (["plots", 0, "x", 0], 0, "plots[0].x has a logarithmic axis, which needs numbers above 0"),
    (["plots", 0, "x", 0], "one", "plots[0].x[0] is not a finite number"),
    (["plots", 0, "series"], [], "plots[0].series is empty"),
    (["plots", 0, "series", 0, "y"], [1], "plots[0].series[0].y has 1 values, but x has 2"),
    (["plots", 0, "series", 0, "y", 0], -1, "plots[0].series[0].y has a logarithmic axis"),
    (["plots", 0, "series", 0, "y", 0], True, "plots[0].series[0].y[0] is not a finite number"),
    (["plots", 1, "log"], "x", "plots[1].x has a logarithmic axis"),
    (["plots", 2, "values"], [[1]], "plots[2].values is not 1 rows of 2 numbers"),
    (["plots", 2, "rows"], [], "plots[2].rows is empty"),
    (["plots", 2, "columns"], [1] * 65, "plots[2].columns has 65 entries; the limit is 64"),
    (["checks"], [], "checks is empty"),
    (["checks", 0, "holds"], 1, "checks[0].holds is neither true nor false"),
    (["checks", 0, "got"], 1, "checks[0].got is not a text"),
    (["seen"], "seen", "seen is not a text in both languages"),
    (["skipped"], "all", "skipped is not a text in both languages"),
]


def changed(way: list[Any], value: Any) -> Any:
    document = copy.deepcopy(GOOD)
    place = document
    for key in way[:-1]:
        place = place[key]
    place[way[-1]] = value
    return document


def test_a_good_result_is_told_as_it_was_given() -> None:
    outcome = outcome_of("toy", 3, GOOD)
    assert outcome.holds
    told = outcome.document("en")
    assert told["rows"] == [[1, "one"], [2.5, "two"]]
    assert [plot["kind"] for plot in told["plots"]] == ["line", "bar", "heat"]
    assert told["plots"][2]["values"] == [[0.5, 1]]
    assert told["seed"] == 3 and told["checks"][0]["due"] == "> 0"


def test_one_check_that_fails_is_enough() -> None:
    document = changed(["checks"], [*GOOD["checks"], {**GOOD["checks"][0], "holds": False}])
    assert not outcome_of("toy", 0, document).holds


@pytest.mark.parametrize(("way", "value", "said"), WRONG, ids=[said for _, _, said in WRONG])
def test_each_fault_is_named_with_its_place(way: list[Any], value: Any, said: str) -> None:
    with pytest.raises(ExperimentFailed) as failed:
        outcome_of("toy", 0, changed(way, value))
    assert str(failed.value).startswith(f"experiment toy returned no usable result: {said}")


@pytest.mark.parametrize("key", ["columns", "rows", "plots", "checks", "seen"])
def test_a_missing_field_is_named(key: str) -> None:
    with pytest.raises(ExperimentFailed, match=f"result has no {key}"):
        outcome_of("toy", 0, {name: value for name, value in GOOD.items() if name != key})


LEAF = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3)
)
ANYTHING = st.recursive(LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner))


@given(way=st.sampled_from([way for way, _, _ in WRONG]), value=ANYTHING)
def test_whatever_stands_in_a_field_it_is_read_or_refused(way: list[Any], value: Any) -> None:
    try:
        outcome = outcome_of("toy", 0, changed(way, value))
    except ExperimentFailed:
        return
    assert isinstance(outcome, SeedOutcome)
    json.dumps(outcome.document("zh"), allow_nan=False)
