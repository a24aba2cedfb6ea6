"""Compare the scaler with torch.amp.GradScaler on the CPU, over random runs of good and bad steps."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from ..conftest import IMPL, load

DynamicScaler = load(IMPL / "precision/loss-scaler/reference.py").DynamicScaler


@pytest.mark.parametrize("interval, growth, backoff", [(1, 2.0, 0.5), (2, 4.0, 0.25), (5, 2.0, 0.5)])
@pytest.mark.parametrize("share_of_bad", [0.0, 0.1, 0.5])
def test_a_run_is_torchs(interval: int, growth: float, backoff: float, share_of_bad: float) -> None:
    theirs = torch.amp.GradScaler("cpu", 1024.0, growth, backoff, interval)
    mine = DynamicScaler(1024.0, growth, backoff, interval)
    parameters = [nn.Parameter(torch.zeros(2, 2)), nn.Parameter(torch.zeros(3))]
    optimiser = torch.optim.SGD(parameters, lr=0.0)
    for _ in range(30):
        assert mine.scale(torch.tensor(3.0)) == theirs.scale(torch.tensor(3.0))
        grads = [torch.randn(2, 2), torch.randn(3)]
        if torch.rand(()) < share_of_bad:
            grads[int(torch.randint(2, ()))].view(-1)[1] = [math.inf, -math.inf, math.nan][int(torch.randint(3, ()))]
        for parameter, g in zip(parameters, grads, strict=True):
            parameter.grad = g.clone()
        before = [g.clone() for g in grads]
        good = mine.step(grads)
        theirs.unscale_(optimiser)
        theirs.step(optimiser)
        due = [p.grad for p in parameters] if good else before
        assert good == all(bool(g.isfinite().all()) for g in before)
        assert all(torch.allclose(g, d, equal_nan=True) for g, d in zip(grads, due, strict=True))
        mine.update()
        theirs.update()


def test_the_scaled_loss_has_scaled_gradients() -> None:
    loss = torch.tensor(2.0, requires_grad=True)
    DynamicScaler().scale(loss).backward()
    assert loss.grad == 2.0**16
