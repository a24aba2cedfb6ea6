"""Test the tolerances that are measured, in every dtype."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from attncli.judge.case import Case, profile_of
from attncli.judge.drawing import fixed_draw
from attncli.judge.make import Recorder
from attncli.judge.reference import Expectation, GradientExpectation
from in_process import write_challenge

PROFILES = {torch.float64: "float64", torch.float32: "ordinary", torch.float16: "fp16", torch.bfloat16: "bf16"}
INPUTS = 'def case(make):\n    make.call("f", make.normal(1))\n'


def expected(folder: Path, dtype: torch.dtype, line: str, kind: type[Expectation] = Expectation) -> Expectation:
    """Return what is expected of `f(x)` at x = 1."""
    challenge = write_challenge(folder, {"entry": ["f"]}, f"import torch\ndef f(x):\n    return {line}\n", INPUTS, {})
    recorder = Recorder(fixed_draw, profile_of(PROFILES[dtype], challenge.facts), declared=challenge.declared)
    challenge.record("case")(recorder)
    case: Case = recorder.case
    case.inputs[0].value = torch.ones(1, dtype=dtype)
    return kind(challenge.reference, case)


@pytest.mark.parametrize(
    ("dtype", "times"), [(torch.float64, 32), (torch.float32, 32), (torch.float16, 4), (torch.bfloat16, 4)]
)
def test_an_answer_may_move_as_far_as_inputs_that_move_by_so_many_ulp(tmp_path, dtype, times):
    slack = expected(tmp_path, dtype, "x - 1").slack[0,]
    assert float(slack) == pytest.approx(times * torch.finfo(dtype).eps, abs=0)


def test_an_empty_tensor_gets_empty_slack(tmp_path):
    slack = expected(tmp_path, torch.float32, "(x - 1, x[:0], x.sum())").slack
    assert {path: list(part.shape) for path, part in slack.items()} == {(0, 0): [1], (0, 1): [0], (0, 2): []}
    assert float(slack[0, 2]) == float(slack[0, 0]) > 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_an_answer_may_be_four_times_as_wrong_as_the_reference_in_the_dtype_of_its_inputs(tmp_path, dtype):
    lost = torch.finfo(dtype).eps / 4
    slack = expected(tmp_path, dtype, f"torch.ones_like(x) + {lost} - torch.ones_like(x)").slack[0,]
    assert float(slack) == pytest.approx(4 * lost, abs=0)


def test_float64_error_is_measured_in_float32_and_scaled_to_16_roundings(tmp_path):
    lost = torch.finfo(torch.float32).eps / 4
    slack = expected(tmp_path, torch.float64, f"torch.ones_like(x) + {lost} - torch.ones_like(x)").slack[0,]
    assert float(slack) == pytest.approx(16 * 2.0**-29 * lost, abs=0)


def test_a_gradient_may_move_as_far_as_inputs_that_move_by_32_ulp(tmp_path):
    expectation = expected(tmp_path, torch.float32, "x * x", GradientExpectation)
    ((_, _, vector),) = expectation.cotangents
    moved = 2 * abs(float(vector)) * torch.finfo(torch.float32).eps
    assert float(expectation.slack[0,]) == pytest.approx(32 * moved, rel=1e-6, abs=0)
