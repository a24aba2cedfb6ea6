"""The result of an experiment as it was given; what is missing is named."""

import copy
from typing import Any

import pytest

from attncli.errors import ExperimentFailed
from attncli.experiments.runner import outcome_of


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


def test_a_missing_field_is_named() -> None:
    for key in ("columns", "rows", "plots", "checks", "seen"):
        with pytest.raises(ExperimentFailed, match=f"'{key}' is missing"):
            outcome_of("toy", 0, {name: value for name, value in GOOD.items() if name != key})
