"""Set the tolerance of answers in each dtype."""

from __future__ import annotations

import torch

from attncli.judge.compare import CONDITIONING_FACTORS, EPSILONS


def test_each_dtype_in_which_cases_are_drawn_has_its_factors() -> None:
    dtypes = {torch.float64, torch.float32, torch.float16, torch.bfloat16}
    assert set(EPSILONS) - {torch.float8_e4m3fn, torch.float8_e5m2} == set(CONDITIONING_FACTORS) == dtypes


def test_of_eight_bits_no_code_is_given_away() -> None:
    """Adjacent codes differ by at least half an epsilon of the larger one."""
    assert all(EPSILONS[dtype] < 0.5 for dtype in (torch.float8_e4m3fn, torch.float8_e5m2))
