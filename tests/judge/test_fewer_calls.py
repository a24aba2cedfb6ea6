"""Shrink counterexamples to the failing call and its inputs; keep and label those that fail only as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from attncli.domain.challenge import Facts
from attncli.i18n import quoted
from attncli.judge.case import Case, Profile
from attncli.judge.drawing import Declared, fixed_draw
from attncli.judge.make import Recorder
from attncli.judge.shrink import FEW_ENTRIES, Search, needed, only, simplify
from attncli.judge.submission import FailedCase
from in_process import REFERENCE, check, grade, write_challenge

MANY = '''
def case(make):
    make.call("scaled_sum", make.normal(2, make.size(1, 3)), make.normal(1))

def edge_many(make):
    """Many calls."""
    x, weight = make.normal(2, 3), make.normal(3)
    for scale in (1.0, 2.0, 0.5, 3.0, 0.25):
        make.call("scaled_sum", x, weight, scale)
    make.call("scaled_sum", make.normal(1, 4), make.normal(4), 1.0)
'''
SPEC = {"required": ["loads", "edge-cases"], "forbidden": []}


def shown(folder: Any, source: str) -> tuple[dict[str, Any], dict[str, Any]]:
    failed = check(grade(folder, source), "edge-cases")
    return failed, failed["counterexample"]


def test_the_one_call_of_six_that_fails_or_raises_is_shown_alone(tmp_path: Path) -> None:
    folder = write_challenge(tmp_path, SPEC, inputs=MANY, wrong={})
    failed, found = shown(folder, REFERENCE.replace("* scale", "* (4.0 if scale == 3.0 else scale)"))
    assert "calls" not in found and "call" not in found
    assert found["args"]["scale"] == 3.0 and set(found["args"]) == {"x", "weight", "scale"}
    assert "call 4 of" not in failed["message"] and found["edge_case"] == "Many calls"
    failed, found = shown(folder, REFERENCE.replace("    return", "    assert scale != 0.5\n    return"))
    assert failed["reason"] == "exception" and "calls" not in found and found["args"]["scale"] == 0.5


COUNTS = """
calls = 0
def scaled_sum(x, weight, scale=2.0):
    global calls
    calls = calls + 1 if scale != 1.0 or x.shape[0] == 1 else 0
    return (x * weight).sum(-1) * scale + (calls == 5)
"""


def test_what_only_the_whole_program_shows_stays_whole_and_says_so(tmp_path: Path) -> None:
    failed, found = shown(write_challenge(tmp_path, SPEC, inputs=MANY, wrong={}), COUNTS)
    assert len(found["calls"]) == 6 and found["call"] == 6
    assert "the call is correct on its own" in failed["message"] and "单独调用是对的" in failed["message_zh"]


CHAIN = """
class Total:
    def __init__(self, start):
        self.sum = start

    def add(self, x):
        self.sum = self.sum + x
        return self.sum

def double(x, seen):
    seen["n"] = seen.get("n", 0) + 1
    return x * 2
"""
CHAINED = '''
def case(make):
    make.call("double", make.normal(2), make.shared({}))

def edge_chain(make):
    """A chain."""
    first, other, seen = make.new("Total", 1.0), make.new("Total", 2.0), make.shared({})
    make.call("double", make.normal(2), make.shared({}))
    made = make.call("double", make.normal(2), seen)
    make.method(other, "add", make.normal(3))
    make.method(first, "add", made)
    make.method(other, "add", make.normal(2, 1))
    make.method(first, "add", made)
'''


def test_a_call_keeps_the_object_and_the_results_that_it_needs(tmp_path: Path) -> None:
    spec = {**SPEC, "entry": ["Total", "double"]}
    wrong = CHAIN.replace("self.sum + x", "self.sum + (x if x.dim() == 1 else 2 * x)")
    failed, found = shown(write_challenge(tmp_path, spec, CHAIN, CHAINED, {}), wrong)
    assert [call["call"] for call in found["calls"]] == ["Total", "add", "add"] and found["call"] == 3
    assert found["calls"][0]["args"] == {"start": 2.0} or found["calls"][0]["args"] == {"argument 0": 2.0}
    assert "(add, call 3 of 3)" in failed["message"]


def test_a_drawn_case_is_shown_reduced_and_stored_whole(tmp_path: Path) -> None:
    inputs = """
def case(make):
    D = make.size(1, 4)
    make.call("scaled_sum", make.normal(2, D), make.normal(D), 1.0)
    make.call("scaled_sum", make.normal(3, D), make.normal(D), 2.0)
    make.call("scaled_sum", make.normal(3, D), make.normal(D), 3.0)
"""
    spec = {**SPEC, "required": ["loads", "matches-reference"]}
    folder = write_challenge(tmp_path, spec, inputs=inputs, wrong={})
    wrong = REFERENCE.replace("* scale", "* (1 if scale == 2 else scale)")
    report = grade(folder, wrong)
    found = check(report, "matches-reference")["counterexample"]
    assert "calls" not in found and found["args"]["scale"] == 2.0
    (stored,) = report["stored"]
    assert len(stored["values"]) == 6
    again = check(grade(folder, wrong, replay=report["stored"]), "matches-reference")
    assert "the stored counterexample" in again["message"] and again["counterexample"] == found


def test_steps_behind_a_seed_or_with_one_generator_depend_on_one_another() -> None:
    make = Recorder(fixed_draw, Profile("ordinary"))
    make.call("f", make.normal(2))
    make.manual_seed(3)
    make.call("f", make.normal(2))
    make.call("f", make.normal(2))
    assert needed(make.case, 3) == [1, 2, 3] and needed(make.case, 0) == [0]
    make = Recorder(fixed_draw, Profile("ordinary"))
    one, other = make.generator(1), make.generator(2)
    for given in (one, other, [{"deep": one}]):
        make.call("f", given)
    assert needed(make.case, 2) == [0, 2]


def test_what_is_left_names_its_own_tensors_results_and_rules() -> None:
    make = Recorder(fixed_draw, Profile("ordinary"))
    make.call("f", make.normal(2))
    first = make.call("g", make.normal(3))
    make.dtypes(make.exact(make.call("h", first[0], make.normal(4), more={"a": (first, make.normal(5))})), torch.int)
    case, inputs = only(make.case, [1, 2])
    assert inputs == [1, 2, 3] and [item.value.numel() for item in case.inputs] == [3, 4, 5]
    assert case.steps[1]["args"] == [["r", 0, [0]], ["t", 1]]
    assert case.steps[1]["kwargs"] == {"more": ["d", [[["s", "a"], ["u", [["r", 0, []], ["t", 2]]]]]]}
    assert case.exact == {1} and set(case.dtypes) == {(1,)}


@pytest.mark.parametrize("fatal", [False, True])
def test_after_a_failure_as_many_cases_are_tried_as_asked_and_none_after_a_fatal_one(fatal: bool) -> None:
    tried = []

    def examine(case: Case) -> FailedCase:
        tried.append(case)
        return FailedCase(case, "values", quoted("wrong"), fatal=fatal)

    def record(make: Recorder) -> None:
        make.call("f", make.normal(make.size(3, 9)))

    search = Search(record, Profile("ordinary"), stream=0, shrink_calls=1, declared=Declared(Facts()))
    assert search.run(examine, 20, seed=1) is not None
    assert len(tried) == (1 if fatal else 2)


@pytest.mark.parametrize("size", [FEW_ENTRIES, FEW_ENTRIES + 1])
def test_only_a_small_input_is_simplified_entry_by_entry(size: int) -> None:
    make = Recorder(fixed_draw, Profile("ordinary"))
    make.call("f", make.normal(size))

    def examine(case: Case) -> FailedCase | None:
        value = case.inputs[0].value
        return FailedCase(case, "values", quoted("wrong")) if float(value[0]) not in (0.0, 1.0) else None

    drawn = examine(make.case)
    assert drawn is not None
    entries = simplify(drawn, examine).case.inputs[0].value[1:]
    assert bool((entries == 0).all()) == (size == FEW_ENTRIES)


@pytest.mark.parametrize("name", ["property", "gradient_property"])
def test_a_property_keeps_its_whole_program(tmp_path: Path, name: str) -> None:
    inputs = f'''
def edge_law(make):
    """A law."""
    x, weight = make.normal(2), make.normal(2)
    for scale in (1.0, 2.0):
        make.compare(make.call("scaled_sum", x, weight, scale), False)
    make.{name}(lambda *seen: ("never", "从不"))
'''
    case = 'def case(make):\n    make.call("scaled_sum", make.normal(2), make.normal(2))\n'
    failed, found = shown(write_challenge(tmp_path, SPEC, inputs=case + inputs, wrong={}), REFERENCE)
    assert "never" in failed["message"] and len(found["calls"]) == 2
