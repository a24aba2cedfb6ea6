"""Find results that come from memory, and never report code without state as stateful, however wrong its values."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import yaml
from hypothesis import given
from hypothesis import strategies as st

from attncli.judge.case import Profile, refilled, relayout
from attncli.judge.challenge import Folder
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_challenge(tmp_path_factory.mktemp("project"), SPEC, REFERENCE, INPUTS, {})


def test_an_answer_that_is_remembered_by_address_is_found(folder):
    for key in ("w.data_ptr()", "id(w)", "(tuple(x.shape), w.data_ptr())"):
        source = f"{HEAD}KEPT = {{}}\ndef project(x, w):\n    kept = KEPT.setdefault({key}, (w, w.clone()))\n"
        assert grade(folder, source + "    return x @ kept[1]\n")["verdict"] == "rejected"
    assert grade(folder, source + "    return x @ w\n")["verdict"] == "accepted"


def test_whole_numbers_are_refilled_too_along_a_dimension_that_has_an_order(tmp_path):
    inputs = 'def case(make):\n    make.call("project", make.normal(3, 4), make.integers(0, 99, make.size(2, 5), 1))\n'
    reference = HEAD + "def project(x, w):\n    return x.sum() * w.double().to(x.dtype)\n"
    folder = write_challenge(tmp_path, {**SPEC, "required": ["loads", "pure"]}, reference, inputs, {})
    kept = "KEPT = {}\ndef project(x, w):\n    w = KEPT.setdefault(id(w), (w, w.clone()))[1]\n"
    report = grade(folder, reference.replace("def project(x, w):\n", kept))
    assert check(report, "pure")["reason"] == "depends-on-earlier-calls"
    assert grade(folder, reference)["verdict"] == "accepted"


def test_the_verdict_names_what_happened_and_a_wrong_answer_that_keeps_nothing_is_none_from_memory(tmp_path):
    folder = write_challenge(tmp_path, {**SPEC, "required": ["loads", "pure"]}, REFERENCE, INPUTS, {})
    kept = HEAD + "KEPT = []\ndef project(x, w):\n    KEPT.append((w, w.clone()))\n"
    kept += "    return x @ next(copy for seen, copy in KEPT if seen.data_ptr() == w.data_ptr())\n"
    found = check(grade(folder, kept), "pure")
    assert found["reason"] == "depends-on-earlier-calls"
    assert found["message"] == "uses old values of arguments that were changed in place"
    found = check(grade(folder, HEAD + "def project(x, w):\n    return x @ (2 * w)\n"), "pure")
    assert found["status"] == "pass"


def test_the_second_round_refers_to_its_own_results_and_sees_other_values():
    make = recorder()
    x, w = make.normal(2, 3), make.normal(3, 3)
    first = make.call("project", x, w)
    make.call("project", first, w)
    case = make.case
    again = refilled(case)
    assert again is not None and again.ignored == {0, 1, 2}
    outcomes = run_reference({"project": lambda x, w: x @ w}, again, as_given).outcomes
    flipped = x.flip(-1) @ w.flip(-1)
    assert torch.allclose(outcomes[3], flipped)
    assert torch.allclose(outcomes[4], flipped @ w.flip(-1))
    assert torch.equal(case.inputs[0].value, x.detach()), "the case itself is left as it was"


def test_values_with_laws_of_their_own_and_running_states_are_left_alone():
    for arguments in (
        lambda make: (make.keep(torch.eye(3)), make.keep(torch.eye(3))),
        lambda make: (make.normal(2, 3), make.shared({})),
        lambda make: (make.normal(2, 3), make.generator()),
    ):
        make = recorder()
        make.call("project", *arguments(make))
        assert refilled(make.case) is None


def test_what_is_wrong_at_the_first_call_too_is_not_put_down_to_memory(folder):
    shortcut = HEAD + "def project(x, w):\n    if len(x) == 1 and not torch.is_grad_enabled():\n        return w[:1]\n"
    report = grade(folder, shortcut + "    return x @ w\n")
    assert check(report, "edge-cases")["status"] == "fail", "a way that only inference takes"
    report = grade(folder, HEAD + "def project(x, w):\n    return x @ w + 1\n")
    assert check(report, "matches-reference")["reason"] == "values"
    assert check(report, "pure")["status"] == "pass"


def test_a_shared_result_does_not_hide_an_answer_from_memory(folder):
    kept = HEAD + "KEPT, OUT = {}, {}\ndef project(x, w):\n"
    kept += "    y = x @ KEPT.setdefault(id(w), (w, w.clone()))[1]\n"
    kept += "    return y if y.requires_grad else OUT.setdefault((y.shape, y.dtype), torch.empty_like(y)).copy_(y)\n"
    report = grade(folder, kept)
    assert report["rung"] == "none"
    assert check(report, "pure")["reason"] == "depends-on-earlier-calls"


IMPL = Path(__file__).parents[2] / "impl"
WRONG = {
    "attention/sdpa": "no-scale mask-inverted nan-rows",
    "attention/softmax-stable": "always-last-dim global-max sum-over-everything",
    "cache/gqa": "wrong-order-of-heads top-left-mask",
    "norms/layer-norm": "unbiased-variance statistics-over-tokens",
}
KEPT = {"attention/softmax-stable": "reused-buffer", "attention/sdpa": "scales-query-in-place"}


# In `make test` the one that is graded fastest.
FAST = "attention/softmax-stable"


@pytest.mark.parametrize("place", [pytest.param(place, marks=[pytest.mark.full] * (place != FAST)) for place in WRONG])
def test_wrong_values_are_not_called_impure_and_what_is_kept_is(place: str) -> None:
    said = yaml.safe_load((IMPL / place / "challenge.yaml").read_text(encoding="utf-8"))
    required = ["loads", "matches-reference", "edge-cases", "stable", "pure"]
    folder = Folder({"id": Path(place).name, "entry": said["entry"], "required": required}, IMPL / place)
    for name in WRONG[place].split():
        report = grade(folder, (IMPL / place / "wrong" / f"{name}.py").read_text(encoding="utf-8"))
        failed = [item for item in report["checks"] if item["status"] == "fail"]
        assert check(report, "pure")["status"] in ("pass", "skipped"), (name, check(report, "pure"))
        assert failed and all(item["reason"] in ("values", "not-finite", "exception") for item in failed), name
    if place in KEPT:
        folder = Folder({**folder.spec, "required": ["loads", "pure"]}, IMPL / place)
        kept = (IMPL / place / "wrong" / f"{KEPT[place]}.py").read_text(encoding="utf-8")
        assert check(grade(folder, kept), "pure")["status"] == "fail"


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 9))
def test_another_layout_holds_the_same_values_and_no_view_merges_its_last_dimensions(shape, turn):
    tensor = torch.arange(float(torch.Size(shape).numel())).reshape(shape)
    other = relayout(tensor, turn)
    assert torch.equal(other, tensor)
    if len(shape) > 1 and min(shape) > 1:
        assert not other.is_contiguous()
        with pytest.raises(RuntimeError, match="view size is not compatible"):
            other.view(*shape[:-2], -1)


def test_both_layouts_come_in_turns():
    assert {relayout(torch.zeros(2, 3), turn).stride() for turn in range(4)} == {(1, 2), (7, 2)}
