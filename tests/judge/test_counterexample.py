"""Describe the tensors of a counterexample."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from attncli.judge.counterexample import restore
from attncli.judge.make import Recorder
from in_process import INPUTS, REFERENCE, check, grade, write_challenge

AXES = 'AXES = {"x": "... T D", "weight": "D", "return": "... T"}\n'
WITHOUT_SCALE = REFERENCE.replace(" * scale", "")


def shown(report: dict[str, Any], name: str = "matches-reference") -> dict[str, Any]:
    found: dict[str, Any] = check(report, name)["counterexample"]
    return found


def test_arguments_and_results_carry_the_names_of_their_axes(tmp_path: Path) -> None:
    report = grade(write_challenge(tmp_path, inputs=AXES + INPUTS), WITHOUT_SCALE)
    found = shown(report)
    assert found["args"]["x"]["axes"] == ["", "T", "D"] and found["args"]["weight"]["axes"] == ["D"]
    assert found["expected"]["axes"] == found["got"]["axes"] == ["", "T"]
    assert shown(report, "edge-cases")["args"]["x"]["axes"] == ["T", "D"]


@pytest.mark.parametrize("axes", ["", 'AXES = {"x": "T", "weight": "...", "return": "B T D E"}\n'])
def test_what_is_not_known_or_does_not_fit_has_no_names(tmp_path: Path, axes: str) -> None:
    found = shown(grade(write_challenge(tmp_path, inputs=axes + INPUTS), WITHOUT_SCALE))
    assert not any("axes" in tensor for tensor in (*found["args"].values(), found["expected"]) if tensor is not None)


def test_a_wrong_gradient_has_the_axes_of_its_argument(tmp_path: Path) -> None:
    source = REFERENCE.replace("(x * weight)", "(x.detach() * weight)")
    report = grade(write_challenge(tmp_path, inputs=AXES + INPUTS), source)
    assert "gradient of x" in check(report, "gradients")["message"]
    assert shown(report, "gradients")["expected"]["axes"] == ["", "T", "D"]


NESTED = """
def halves(x):
    return x * 2, {"sum": x.sum(-1), "more": [x]}
"""
NESTED_INPUTS = """
AXES = {"halves.x": "T d", "x": "a b", "return[0]": "T d", "return[1]['sum']": "T", "return[1]['more'][0]": "T d"}

def case(make):
    make.call("halves", make.normal(make.size(1, 3), make.size(1, 3)))
"""


@pytest.mark.parametrize(
    ("old", "new", "axes"),
    [("x * 2", "x * 3", ["T", "d"]), (".sum(-1)", ".sum(-1) + 1", ["T"]), ("[x]", "[x + 1]", ["T", "d"])],
)
def test_parts_of_a_result_have_names_of_their_own(tmp_path: Path, old: str, new: str, axes: list[str]) -> None:
    spec = {"entry": ["halves"], "required": ["loads", "matches-reference"], "forbidden": []}
    folder = write_challenge(tmp_path, spec, NESTED, NESTED_INPUTS, {})
    found = shown(grade(folder, NESTED.replace(old, new)))
    assert found["expected"]["axes"] == axes
    assert found["args"]["x"]["axes"] == ["T", "d"], "the function's own argument comes first"


def test_a_result_of_another_form_is_shown_with_the_axes_that_fit(tmp_path: Path) -> None:
    spec = {"entry": ["halves"], "required": ["loads", "matches-reference"], "forbidden": []}
    folder = write_challenge(tmp_path, spec, NESTED, NESTED_INPUTS, {})
    found = shown(grade(folder, "def halves(x):\n    return x * 2\n"))
    assert "axes" not in found["got"] and found["expected"][0]["axes"] == ["T", "d"]
    assert found["expected"][1]["sum"]["axes"] == ["T"] and found["expected"][1]["more"][0]["axes"] == ["T", "d"]


MODULE = """
import torch
from torch import nn

class Gate(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.proj = nn.Linear(d, 2 * d, bias=False)

    def forward(self, x):
        return self.proj(x)
"""
MODULE_INPUTS = """
AXES = {"x": "B d", "forward.return": "B 2d", "proj.weight": "2d d"}

def case(make):
    d = make.size(1, 3)
    gate = make.new("Gate", d)
    make.set(gate, {"proj.weight": make.normal(2 * d, d)})
    make.method(gate, "forward", make.normal(2, d))
"""


def test_weights_that_are_set_go_by_their_own_names(tmp_path: Path) -> None:
    required = ["loads", "matches-reference", "gradients"]
    spec = {"entry": ["Gate"], "required": required, "forbidden": []}
    folder = write_challenge(tmp_path, spec, MODULE, MODULE_INPUTS, {})
    found = shown(grade(folder, MODULE.replace("self.proj(x)", "self.proj(x) + 1")))
    assert found["calls"][1]["args"]["proj.weight"]["axes"] == ["2d", "d"] and found["got"]["axes"] == ["B", "2d"]
    report = grade(folder, MODULE.replace("self.proj(x)", "x @ self.proj.weight.T.detach() + 0 * self.proj(x)"))
    assert "gradient of proj.weight" in check(report, "gradients")["message"]
    assert shown(report, "gradients")["expected"]["axes"] == ["2d", "d"]


KEPT = {"check": "matches-reference", "record": "case", "profile": "ordinary", "draws": [1, 1, 0, 0], "values": []}
LEAKY = """
import base64

def outside(make):
    raise SystemExit("a function of another module")

outside.__module__ = "base64"
"""


@pytest.mark.parametrize(
    "changes",
    [
        {"draws": [20_000, 1, 6000, 1] + [0] * 40},
        {"draws": [10**12, 10**12, 0, 0]},
        {"draws": [-1, 1, 0, 0]},
        {"draws": [1.0, 1, 0, 0]},
        {"draws": ["1", 1, 0, 0]},
        {"draws": [1]},
        {"draws": 5},
        {"values": 5},
        {"values": [["float32", [10**6, 10**6], ""], ["float32", [1], "AAAAAA=="]]},
        {"values": [["float32", [2, 1, 1], "AAAA"], ["float32", [1], "AAAAAA=="]]},
        {"values": [["unheard-of", [2, 1, 1], ""], ["float32", [1], "AAAAAA=="]]},
        {"record": "base64"},
        {"record": "outside"},
        {"record": "__builtins__"},
        {"record": ["case"]},
        {"profile": {}},
    ],
)
def test_a_stored_counterexample_from_elsewhere_draws_only_what_the_inputs_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    folder = write_challenge(tmp_path, inputs=INPUTS + LEAKY)
    asked: list[int] = []
    normal = Recorder.normal

    def counted(self: Recorder, *shape: int, **named: Any) -> Any:
        asked.append(math.prod(shape))
        return normal(self, *shape, **named)

    monkeypatch.setattr(Recorder, "normal", counted)
    assert restore({**KEPT, **changes}, folder) is None
    assert sum(asked) <= 200, "nothing is drawn before it is known to be small"


def test_a_stored_counterexample_that_fits_is_built_again(tmp_path: Path) -> None:
    values = [["float32", [2, 1, 1], "AACAPwAAAEA="], ["float32", [1], "AABAQA=="]]
    case = restore({**KEPT, "values": values}, write_challenge(tmp_path))
    assert case is not None and [item.value.flatten().tolist() for item in case.inputs] == [[1.0, 2.0], [3.0]]


def test_a_wrong_dtype_is_shown_beside_the_one_that_was_due(tmp_path: Path) -> None:
    folder = write_challenge(tmp_path)
    source = REFERENCE.replace("return (x * weight)", "return (x * weight).double()")
    found = shown(grade(folder, source))
    assert (found["expected"]["dtype"], found["got"]["dtype"]) == ("float32", "float64")
