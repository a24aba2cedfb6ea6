"""Compare importance weights with a loop over single numbers."""

from __future__ import annotations

import math
from itertools import product

import pytest
import torch

from tests.impl.conftest import IMPL, load

rollout_weights = load(IMPL / "alignment/rollout-correction/reference.py").rollout_weights
LEVELS, MODES = ("token", "sequence", "geometric"), ("truncate", "mask")


def one_by_one(train, rollout, mask, level, mode, cap):
    out = torch.zeros(train.shape, dtype=torch.float64)
    for n, row in enumerate(mask.tolist()):
        places = [t for t, counted in enumerate(row) if counted]
        deltas = {t: float(train[n, t]) - float(rollout[n, t]) for t in places}
        for t in places:
            log_w = {
                "token": deltas[t],
                "sequence": math.fsum(deltas.values()),
                "geometric": math.fsum(deltas.values()) / len(places),
            }[level]
            w = math.inf if log_w > 700 else math.exp(log_w)
            out[n, t] = w if w <= cap else (cap if mode == "truncate" else 0.0)
    return out


@pytest.mark.parametrize(("level", "mode", "scale"), product(LEVELS, MODES, [0.3, 3.0, 1e4]))
def test_each_weight_is_its_own_number(level, mode, scale):
    train, rollout = (torch.randn(5, 6, dtype=torch.float64) * scale for _ in range(2))
    mask = torch.rand(5, 6) < 0.6
    mask[0] = False
    got = rollout_weights(train.requires_grad_(), rollout, mask, level, mode, 2.0)
    assert not got.requires_grad
    assert torch.allclose(got, one_by_one(train, rollout, mask, level, mode, 2.0), rtol=1e-12, atol=0.0)
