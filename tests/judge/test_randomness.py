"""Randomness may only come from the passed generators or from torch's global one."""

from __future__ import annotations

import pytest

from in_process import check, grade, write_challenge

HEAD = "import torch\n"
REFERENCE = HEAD + "def draw(count, generator=None):\n    return torch.rand(count, generator=generator)\n"
INPUTS = """
import torch
GRADIENTS = False

def case(make):
    generator = make.generator() if make.flag() else None
    make.compare(make.call("draw", make.size(4, 9), generator), False)
"""
REPEATED = (
    INPUTS
    + """
def edge_global(make):
    'the global generator begins anew'
    handles = []
    for _ in range(2):
        make.manual_seed(5)
        handles.append(make.call("draw", 8))
        make.compare(handles[-1], False)
    make.compare(make.call("draw", 8), False)
    first, second = (handle.step for handle in handles)
    make.property(lambda o: None if torch.equal(o[first], o[second]) else ("not the same draw", "抽到的不一样"))
"""
)
PRIVATE = REFERENCE.replace(
    "return", "if generator is None:\n        generator = torch.Generator()\n        generator.seed()\n    return"
)


@pytest.fixture
def folder(tmp_path):
    spec = {"id": "draw", "entry": ["draw"], "required": ["loads", "edge-cases", "pure"]}

    def made(inputs: str):
        return write_challenge(tmp_path, {**spec, "forbidden": []}, REFERENCE, inputs, {})

    return made


def test_what_comes_from_the_generators_is_no_impurity(folder):
    for inputs in (INPUTS, REPEATED):
        assert grade(folder(inputs), REFERENCE)["verdict"] == "accepted"


def test_randomness_from_elsewhere_is_another_answer_for_the_same_input(folder):
    report = grade(folder(INPUTS), PRIVATE)
    assert check(report, "pure")["reason"] == "nondeterministic"


def test_a_generator_of_ones_own_is_not_torchs_global_one(folder):
    failed = check(grade(folder(REPEATED), PRIVATE), "edge-cases")
    assert "not the same draw" in failed["message"]
    steps = [step["call"] for step in failed["counterexample"]["calls"]]
    assert steps == ["manual_seed", "draw", "manual_seed", "draw", "draw"]


def test_seeding_the_global_generator_is_found_behind_a_step_that_seeds_it(folder):
    source = REFERENCE.replace("return", "torch.manual_seed(6)\n    return")
    assert "seeds torch's global generator" in check(grade(folder(REPEATED), source), "edge-cases")["message"]
