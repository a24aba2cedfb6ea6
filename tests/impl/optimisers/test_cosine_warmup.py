"""Compare the schedule with torch's own LinearLR and CosineAnnealingLR, and check its laws at the corners."""

from __future__ import annotations

import math

import pytest
import torch
from torch.optim import SGD
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR

from ..conftest import IMPL, load

lr_at = load(IMPL / "optimisers/cosine-warmup/reference.py").lr_at


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("warmup, total, min_lr", [(4, 20, 0.0), (4, 20, 0.03), (1, 7, 0.3), (10, 11, 0.0)])
def test_the_curve_is_that_of_torchs_schedulers(warmup: int, total: int, min_lr: float) -> None:
    optimiser = SGD([torch.zeros(1, requires_grad=True)], lr=0.3)
    rise = LinearLR(optimiser, start_factor=1 / warmup, total_iters=warmup - 1)
    fall = CosineAnnealingLR(optimiser, total - warmup, eta_min=min_lr)
    schedule = SequentialLR(optimiser, [rise, fall], [warmup])
    for step in range(total + 1):
        assert lr_at(step, 0.3, warmup, total, min_lr) == pytest.approx(optimiser.param_groups[0]["lr"], abs=1e-12)
        optimiser.step()
        schedule.step()


@pytest.mark.parametrize("warmup, total", [(0, 1), (0, 9), (3, 4), (5, 50)])
@pytest.mark.parametrize("min_lr", [0.0, 0.1, 0.4])
def test_corners(warmup: int, total: int, min_lr: float) -> None:
    def at(step: int) -> float:
        return lr_at(step, 0.4, warmup, total, min_lr)

    assert at(warmup) == pytest.approx(0.4) and at(max(warmup - 1, 0)) == pytest.approx(0.4)
    assert at(0) == pytest.approx(0.4 / max(warmup, 1))
    assert all(at(step) == pytest.approx(min_lr) for step in (total, total + 1, 2 * total, 10**9))
    falling = [at(step) for step in range(warmup, total + 1)]
    assert falling == sorted(falling, reverse=True)
    assert math.isclose(sum(falling) - (0.4 + min_lr) / 2, (total - warmup) * (0.4 + min_lr) / 2)
