"""Repeat calls with other values in the same memory: results that were cached by address are stale."""

from __future__ import annotations

import pytest
import torch

from attncli.judge.case import Profile, refilled
from attncli.judge.make import Recorder
from attncli.judge.reference import as_given, run_reference
from in_process import check, grade, write_challenge

HEAD = "import torch\n"
SPEC = {"entry": ["project"], "required": ["loads", "matches-reference", "edge-cases", "pure"]}
REFERENCE = HEAD + "def project(x, w):\n    return x @ w\n"
INPUTS = """
def case(make):
    d = make.size(2, 4)
    make.call("project", make.normal(3, d), make.normal(d, 5))

def edge_one_row(make):
    '''a single row'''
    make.call("project", make.normal(1, 3), make.normal(3, 2))
"""


def recorder() -> Recorder:
    return Recorder(lambda kind, low, high: low, Profile("ordinary"))


@pytest.mark.parametrize("key", ["w.data_ptr()", "id(w)", "(tuple(x.shape), w.data_ptr())"])
def test_an_answer_that_is_remembered_by_address_is_found(tmp_path, key):
    folder = write_challenge(tmp_path, SPEC, REFERENCE, INPUTS, {})
    source = f"{HEAD}KEPT = {{}}\ndef project(x, w):\n    kept = KEPT.setdefault({key}, (w, w.clone()))\n"
    report = grade(folder, source + "    return x @ kept[1]\n")
    assert report["verdict"] == "rejected"
    assert grade(folder, source + "    return x @ w\n")["verdict"] == "accepted"


def test_whole_numbers_are_refilled_too_along_a_dimension_that_has_an_order(tmp_path):
    inputs = 'def case(make):\n    make.call("project", make.normal(3, 4), make.integers(0, 99, make.size(2, 5), 1))\n'
    reference = HEAD + "def project(x, w):\n    return x.sum() * w.double().to(x.dtype)\n"
    folder = write_challenge(tmp_path, {**SPEC, "required": ["loads", "pure"]}, reference, inputs, {})
    kept = "KEPT = {}\ndef project(x, w):\n    w = KEPT.setdefault(id(w), (w, w.clone()))[1]\n"
    report = grade(folder, reference.replace("def project(x, w):\n", kept))
    assert check(report, "pure")["reason"] == "depends-on-earlier-calls"
    assert grade(folder, reference)["verdict"] == "accepted"


def test_the_verdict_names_what_happened(tmp_path):
    folder = write_challenge(tmp_path, {**SPEC, "required": ["loads", "pure"]}, REFERENCE, INPUTS, {})
    kept = HEAD + "KEPT = []\ndef project(x, w):\n    KEPT.append((w, w.clone()))\n"
    kept += "    return x @ next(copy for seen, copy in KEPT if seen.data_ptr() == w.data_ptr())\n"
    found = check(grade(folder, kept), "pure")
    assert found["reason"] == "depends-on-earlier-calls"
    assert found["message"] == "uses old values of arguments that were changed in place"


def test_a_wrong_answer_that_keeps_nothing_is_not_said_to_come_from_memory(tmp_path):
    folder = write_challenge(tmp_path, {**SPEC, "required": ["loads", "pure"]}, REFERENCE, INPUTS, {})
    found = check(grade(folder, HEAD + "def project(x, w):\n    return x @ (2 * w)\n"), "pure")
    assert found["status"] == "pass"


def test_the_second_round_refers_to_its_own_results_and_sees_other_values():
    make = recorder()
    x, w = make.normal(2, 3), make.normal(3, 3)
    first = make.call("project", x, w)
    make.call("project", first, w)
    case = make.case
    again = refilled(case)
    assert again is not None
    assert again.ignored == {0, 1, 2}
    namespace = {"project": lambda x, w: x @ w}
    outcomes = run_reference(namespace, again, as_given).outcomes
    flipped = x.flip(-1) @ w.flip(-1)
    assert torch.allclose(outcomes[3], flipped)
    assert torch.allclose(outcomes[4], flipped @ w.flip(-1))
    assert torch.equal(case.inputs[0].value, x.detach()), "the case itself is left as it was"


def test_values_with_laws_of_their_own_and_running_states_are_left_alone():
    composed = recorder()
    composed.call("project", composed.keep(torch.eye(3)), composed.keep(torch.eye(3)))
    assert refilled(composed.case) is None
    stateful = recorder()
    stateful.call("project", stateful.normal(2, 3), stateful.shared({}))
    assert refilled(stateful.case) is None
    drawn = recorder()
    drawn.call("project", drawn.normal(2, 3), drawn.generator())
    assert refilled(drawn.case) is None


def test_a_way_that_only_inference_takes_is_seen_in_edge_cases(tmp_path):
    folder = write_challenge(tmp_path, SPEC, REFERENCE, INPUTS, {})
    shortcut = HEAD + "def project(x, w):\n    if len(x) == 1 and not torch.is_grad_enabled():\n        return w[:1]\n"
    report = grade(folder, shortcut + "    return x @ w\n")
    assert check(report, "edge-cases")["status"] == "fail"


def test_what_is_wrong_at_the_first_call_too_is_not_put_down_to_memory(tmp_path):
    folder = write_challenge(tmp_path, SPEC, REFERENCE, INPUTS, {})
    report = grade(folder, HEAD + "def project(x, w):\n    return x @ w + 1\n")
    assert check(report, "matches-reference")["reason"] == "values"
    assert check(report, "pure")["status"] == "pass"


def test_a_shared_result_does_not_hide_an_answer_from_memory(tmp_path):
    folder = write_challenge(tmp_path, SPEC, REFERENCE, INPUTS, {})
    kept = HEAD + "KEPT, OUT = {}, {}\ndef project(x, w):\n"
    kept += "    y = x @ KEPT.setdefault(id(w), (w, w.clone()))[1]\n"
    kept += "    return y if y.requires_grad else OUT.setdefault((y.shape, y.dtype), torch.empty_like(y)).copy_(y)\n"
    report = grade(folder, kept)
    assert report["rung"] == "none"
    assert check(report, "pure")["reason"] == "depends-on-earlier-calls"
