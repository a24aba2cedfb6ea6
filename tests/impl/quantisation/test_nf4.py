"""Compare NF4's levels with Python's own normal quantiles, and its codes with a loop over plain numbers."""

from __future__ import annotations

from statistics import NormalDist

import pytest
import torch

from ..conftest import IMPL, load

reference = load(IMPL / "quantisation/nf4/reference.py")

POINT = 0.9677083
POSITIVE = [NormalDist().inv_cdf(POINT - k * (POINT - 0.5) / 8) for k in range(8)]
NEGATIVE = [-NormalDist().inv_cdf(POINT - k * (POINT - 0.5) / 7) for k in range(7)]
LEVELS = sorted(x / POSITIVE[0] for x in [*POSITIVE, 0.0, *NEGATIVE])


def test_levels_are_quantiles_and_those_that_are_published() -> None:
    assert reference.levels().tolist() == pytest.approx(LEVELS, abs=1e-12)
    published = [-1, -0.6961928, -0.52507305, -0.39491749, -0.28444138, -0.18477343, -0.09105004, 0, 0.0795803]
    assert LEVELS[:9] == pytest.approx(published, abs=2e-7) and LEVELS.index(0.0) == 7


@pytest.mark.parametrize("shape, block", [((2, 12), 3), ((8,), 8), ((2, 3, 4), 2), ((1, 128), 64)])
@pytest.mark.parametrize("kind", ["normal", "outlier", "zero block", "constant"])
def test_codes_are_the_nearest_levels(shape: tuple[int, ...], block: int, kind: str) -> None:
    w = torch.randn(shape, dtype=torch.float64)
    w[..., :block] = {"normal": w[..., :block], "outlier": -50.0, "zero block": 0.0, "constant": 0.3}[kind]
    packed, absmax = reference.nf4_quantize(w, block)
    numbers, flat, tops = w.flatten().tolist(), packed.flatten().tolist(), absmax.flatten().tolist()
    for i, x in enumerate(numbers):
        top = max(abs(y) for y in numbers[i // block * block :][:block])
        code = min(range(16), key=lambda c: abs(LEVELS[c] - x / top)) if top else 7
        assert flat[i // 2] // (16 if i % 2 else 1) % 16 == code and tops[i // block] == top


def test_gaussian_weights_lose_less_than_in_uniform_int4() -> None:
    w = torch.randn(500, 64, dtype=torch.float64)
    packed, absmax = reference.nf4_quantize(w)
    codes = torch.stack([packed & 15, packed >> 4], -1).flatten(-2).long()
    error = (torch.tensor(LEVELS, dtype=torch.float64)[codes] * absmax - w).square().mean().sqrt()
    uniform = ((w / absmax * 7).round() * absmax / 7 - w).square().mean().sqrt()
    assert error < 0.9 * uniform
