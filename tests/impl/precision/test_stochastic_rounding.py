"""Compare stochastic rounding with torch's cast: results are adjacent bfloat16 numbers, and right on average."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from ..conftest import IMPL, load

stochastic_round = load(IMPL / "precision/stochastic-rounding/reference.py").stochastic_round_bf16


def neighbours(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the nearest bfloat16 number and the adjacent one on the other side of x, by torch alone."""
    near = x.to(torch.bfloat16)
    beyond = torch.where(near.double() < x.double(), math.inf, -math.inf).to(torch.bfloat16)
    return near.float(), torch.where(near.double() == x.double(), near, torch.nextafter(near, beyond)).float()


@pytest.mark.parametrize("scale", [1.0, 1e-3, 3e4, 1e-38, 1e-40])
def test_a_result_is_one_of_two_neighbours(scale: float) -> None:
    x = torch.randn(5000) * scale
    got = stochastic_round(x)
    near, other = neighbours(x)
    assert bool(((got == near) | (got == other)).all()) and got.unique().numel() > 1


@pytest.mark.parametrize("number", [1.001, -1.0039, 3.3e-5, -77.7, 1.2e-39, 0.33])
def test_the_mean_is_the_number(number: float) -> None:
    x = torch.full((40_000,), number)
    near, other = (float(part[0]) for part in neighbours(x[:1]))
    error = stochastic_round(x, torch.Generator().manual_seed(1)).double().mean() - float(x[0])
    assert abs(float(error)) < 5 * 0.5 * abs(near - other) / 200


def test_numbers_of_bfloat16_infinities_and_nan_stay() -> None:
    exact = torch.cat([torch.randn(1000).to(torch.bfloat16).float(), torch.tensor([0.0, -0.0, math.inf, -math.inf])])
    assert torch.equal(stochastic_round(exact).view(torch.int32), exact.view(torch.int32))
    odd = torch.tensor([0x7F800001, 0x7FFFFFFF, -1], dtype=torch.int32).repeat(300).view(torch.float32)
    assert bool(stochastic_round(odd).isnan().all())
