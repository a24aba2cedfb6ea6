"""Describe the tensors of a counterexample, and limit the size of displayed values, whatever they are."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.grade_report import CheckResult, Counterexample, GradeReport, read
from attncli.i18n import quoted
from attncli.judge.counterexample import ITEMS_SHOWN, LARGEST, TEXT_SHOWN, VALUES_SHOWN, Room, bounded, plain, restore
from attncli.judge.make import Recorder
from attncli.sandbox.values import Opaque, Raised
from in_process import INPUTS, REFERENCE, check, grade, write_challenge

AXES = 'AXES = {"x": "... T D", "weight": "D", "return": "... T"}\n'
WITHOUT_SCALE = REFERENCE.replace(" * scale", "")


def shown(report: dict[str, Any], name: str = "matches-reference") -> dict[str, Any]:
    found: dict[str, Any] = check(report, name)["counterexample"]
    return found


def test_arguments_and_results_carry_the_names_of_their_axes(tmp_path: Path) -> None:
    folder = write_challenge(tmp_path, inputs=AXES + INPUTS)
    report = grade(folder, WITHOUT_SCALE)
    found = shown(report)
    assert found["args"]["x"]["axes"] == ["", "T", "D"] and found["args"]["weight"]["axes"] == ["D"]
    assert found["expected"]["axes"] == found["got"]["axes"] == ["", "T"]
    assert shown(report, "edge-cases")["args"]["x"]["axes"] == ["T", "D"]
    report = grade(folder, REFERENCE.replace("(x * weight)", "(x.detach() * weight)"))
    assert "gradient of x" in check(report, "gradients")["message"]
    assert shown(report, "gradients")["expected"]["axes"] == ["", "T", "D"]
    wide = shown(grade(folder, REFERENCE.replace("return (x * weight)", "return (x * weight).double()")))
    assert (wide["expected"]["dtype"], wide["got"]["dtype"]) == ("float32", "float64")


def test_what_is_not_known_or_does_not_fit_has_no_names(tmp_path: Path) -> None:
    for name, axes in (("none", ""), ("odd", 'AXES = {"x": "T", "weight": "...", "return": "B T D E"}\n')):
        found = shown(grade(write_challenge(tmp_path / name, inputs=axes + INPUTS), WITHOUT_SCALE))
        assert not any("axes" in (tensor or {}) for tensor in (*found["args"].values(), found["expected"]))


NESTED = """
def halves(x):
    return x * 2, {"sum": x.sum(-1), "more": [x]}
"""
NESTED_INPUTS = """
AXES = {"halves.x": "T d", "x": "a b", "return[0]": "T d", "return[1]['sum']": "T", "return[1]['more'][0]": "T d"}

def case(make):
    make.call("halves", make.normal(make.size(1, 3), make.size(1, 3)))
"""


def test_parts_of_a_result_have_names_of_their_own(tmp_path: Path) -> None:
    spec = {"entry": ["halves"], "required": ["loads", "matches-reference"], "forbidden": []}
    folder = write_challenge(tmp_path, spec, NESTED, NESTED_INPUTS, {})
    for old, new, axes in (("x * 2", "x * 3", "T d"), (".sum(-1)", ".sum(-1) + 1", "T"), ("[x]", "[x + 1]", "T d")):
        found = shown(grade(folder, NESTED.replace(old, new)))
        assert found["expected"]["axes"] == axes.split()
        assert found["args"]["x"]["axes"] == ["T", "d"], "the function's own argument comes first"
    found = shown(grade(folder, "def halves(x):\n    return x * 2\n"))
    assert "axes" not in found["got"] and found["expected"][0]["axes"] == ["T", "d"], "of another form"
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


DRAWS = ([20_000, 1, 6000, 1] + [0] * 40, [10**12, 10**12, 0, 0], [-1, 1, 0, 0], [1.0, 1, 0, 0], ["1", 1, 0, 0], [1], 5)
FIRST = (["float32", [10**6, 10**6], ""], ["float32", [2, 1, 1], "AAAA"], ["unheard-of", [2, 1, 1], ""])
CHANGES: list[dict[str, Any]] = [
    *({"draws": draws} for draws in DRAWS),
    *({"values": values} for values in (5, *([first, ["float32", [1], "AAAAAA=="]] for first in FIRST))),
    *({"record": record} for record in ("base64", "outside", "__builtins__", ["case"])),
    {"profile": {}},
]


def test_a_stored_counterexample_draws_only_what_inputs_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_challenge(tmp_path, inputs=INPUTS + LEAKY)
    asked: list[int] = []
    normal = Recorder.normal

    def counted(self: Recorder, *shape: int, **named: Any) -> Any:
        asked.append(math.prod(shape))
        return normal(self, *shape, **named)

    monkeypatch.setattr(Recorder, "normal", counted)
    for changes in CHANGES:
        asked.clear()
        assert restore({**KEPT, **changes}, folder) is None, changes
        assert sum(asked) <= 200, "nothing is drawn before it is known to be small"
    values = [["float32", [2, 1, 1], "AACAPwAAAEA="], ["float32", [1], "AABAQA=="]]
    case = restore({**KEPT, "values": values}, folder)
    assert case is not None and [item.value.flatten().tolist() for item in case.inputs] == [[1.0, 2.0], [3.0]]


ROOM = 30_000

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers() | st.integers(10**100, 10**400),
    st.floats(),
    st.text(max_size=2000),
    st.binary(max_size=500),
    st.complex_numbers(),
    st.just(Opaque("Thing")),
    st.builds(Raised, st.just(("ValueError",)), st.text(max_size=600)),
    st.sampled_from([torch.rand(300), torch.zeros(0, 5), torch.zeros(2, device="meta"), torch.full((2,), 1j)]),
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=6)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=2000) | st.integers() | st.none(), inner, max_size=4)
    ),
    max_leaves=40,
)


@given(values)
def test_any_value_is_shown_within_its_room(value):
    text = json.dumps(plain(value, Room(ROOM)), allow_nan=False, indent=2)
    assert len(text) <= 2 * ROOM


def test_large_values_are_shown_by_their_beginning():
    long = {"a" * 5000: "b" * 10**6}
    for value in (
        [torch.rand(256, dtype=torch.float64)] * 19_000,
        dict.fromkeys(range(9000), long),
        [[[["x" * 400] * 99] * 99] * 99] * 99,
        ["\u202e" * 10**6] * 500,
    ):
        shown = plain(value, Room(ROOM))
        assert len(json.dumps(shown, indent=2)) < 8 * ROOM
        assert shown[-1] == "…" if isinstance(shown, list) else shown["…"] == "…"


def test_small_values_are_shown_whole_and_what_is_cut_says_so():
    value = {"a": [torch.arange(3.0), (1, 2.5, None, True)], "b": "word", 3: math.inf}
    tensor = {"shape": [3], "dtype": "float32", "values": [0.0, 1.0, 2.0]}
    assert plain(value, Room(ROOM)) == {"a": [tensor, [1, 2.5, None, True]], "b": "word", "3": "inf"}
    assert plain(2**63 - 1, Room(ROOM)) == 2**63 - 1
    assert plain(-(2**4000), Room(ROOM)) == "-a whole number of 4001 bits"
    assert plain(torch.zeros(VALUES_SHOWN + 1), Room(ROOM))["truncated"]
    assert "truncated" not in plain(torch.zeros(VALUES_SHOWN), Room(ROOM))
    assert plain("x" * (TEXT_SHOWN + 1), Room(ROOM)).endswith("…")
    assert len(plain([0] * (ITEMS_SHOWN + 1), Room(10**6))) == ITEMS_SHOWN + 1


def report(counterexamples: list[dict[str, Any]]) -> GradeReport:
    checks = [
        CheckResult(name="pure", status="fail", reason="values", message=quoted("x"), counterexample=shown)
        for shown in (read(Counterexample, each) for each in counterexamples)
    ]
    names = {"challenge": "c", "file": "f", "verdict": "rejected", "diagnosis": (), "seconds": 0.1, "seed": 0}
    return GradeReport(checks=tuple(checks), printed="\x1f" * 65_536 + '"' * 65_536, **names)


@pytest.mark.slow
def test_a_report_is_never_larger_than_it_may_be():
    shown = {"args": {"x": [0] * 20_000}, "got": {"\x1b[31m" + "k" * 50: 1}}
    for count in (1, 3, 14):
        found = bounded(report([shown] * count))
        assert len(json.dumps(found, indent=2)) <= LARGEST
        assert found["checks"][0]["counterexample"]["got"] == {"k" * 50: 1}, "the first one is kept, its keys cleaned"
        assert found["checks"][-1]["counterexample"].get("truncated", False) is (count == 14)


def test_a_message_has_an_end(tmp_path):
    source = "def scaled_sum(x, weight, scale=2.0):\n    return {('k' * 100_000) + str(k): k for k in range(9)}\n"
    found = check(grade(write_challenge(tmp_path), source, quick=True), "matches-reference")
    assert len(found["message"]) < 1000 and len(json.dumps(found)) < 20_000
