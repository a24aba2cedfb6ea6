"""Compare both FP4 formats with a loop over plain numbers: the nearest level, E4M3 number and power of two."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from ..conftest import IMPL, load

fp4 = load(IMPL / "quantisation/fp4-blocks/reference.py")

LEVELS = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
E4M3 = torch.arange(127, dtype=torch.uint8).view(torch.float8_e4m3fn).double().tolist()  # all that are not negative


def nearest(x: float, numbers: list[float]) -> int:
    return min(range(len(numbers)), key=lambda i: (abs(numbers[i] - abs(x)), i % 2))


def decoded(packed: Tensor) -> Tensor:
    codes = torch.stack([packed & 15, packed >> 4], -1).flatten(-2).long()
    return torch.tensor([*LEVELS, *(-x for x in LEVELS)], dtype=torch.float64)[codes]


@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e20])
@pytest.mark.parametrize("shape", [(64,), (2, 32), (2, 1, 96)])
def test_codes_and_scales_are_those_of_a_loop_over_numbers(scale: float, shape: tuple[int, ...]) -> None:
    x = torch.randn(shape, dtype=torch.float64) * scale * 10 ** torch.randn((*shape[:-1], 1)).clamp(-2, 2)
    codes, scales, g = fp4.quantize_nvfp4(x)
    exact = float(x.abs().max()) / 2688
    assert float(g) == pytest.approx(exact, rel=1e-6)
    for k, block in enumerate(x.flatten().split(16)):
        s = E4M3[nearest(float(block.abs().max()) / (6 * exact), E4M3)]
        assert float(scales.flatten()[k]) == s
        due = [math.copysign(LEVELS[nearest(y / (s * exact) if s else 0.0, LEVELS)], y) for y in block.tolist()]
        assert decoded(codes).flatten().split(16)[k].tolist() == due
    codes, exponents = fp4.quantize_mxfp4(x)
    for k, block in enumerate(x.flatten().split(32)):
        e = max(n for n in range(-140, 128) if 2.0**n <= float(block.abs().max())) - 2
        assert int(exponents.flatten()[k]) == e + 127
        due = [math.copysign(LEVELS[nearest(y / 2.0**e, LEVELS)], y) for y in block.tolist()]
        assert decoded(codes).flatten().split(32)[k].tolist() == due


def test_errors_on_gaussian_numbers() -> None:
    x = torch.randn(2000, 64, dtype=torch.float64)
    codes, scales, g = fp4.quantize_nvfp4(x)
    nv = decoded(codes) * (scales.double() * g).repeat_interleave(16, -1)
    codes, exponents = fp4.quantize_mxfp4(x)
    mx = decoded(codes) * torch.exp2(exponents.double() - 127).repeat_interleave(32, -1)
    errors = [float((back - x).square().mean().sqrt()) for back in (nv, mx)]
    assert errors == pytest.approx([0.0954, 0.1152], abs=1e-3)
    assert not decoded(fp4.quantize_nvfp4(torch.zeros(2, 16))[0]).any()
