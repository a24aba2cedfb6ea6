"""Compare Adam with torch.optim.Adam over a hundred steps; the gradient's scale must cancel."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from ..conftest import IMPL, load

adam_step = load(IMPL / "optimisers/adam/reference.py").adam_step


def path(start: Tensor, gradients: list[Tensor], **settings: Any) -> tuple[Tensor, dict[str, Any]]:
    p, state = start, dict[str, Any]()
    for g in gradients:
        p = adam_step(p, g, state, **settings)
    return p, state


@pytest.mark.parametrize(
    "betas, eps, shape", [((0.9, 0.999), 1e-8, (3, 4)), ((0.5, 0.8), 0.1, ()), ((0.0, 0.9), 1e-6, (1,))]
)
def test_a_hundred_steps_are_torchs(betas: tuple[float, float], eps: float, shape: tuple[int, ...]) -> None:
    start = torch.randn(shape, dtype=torch.float64)
    gradients = [torch.randn(shape, dtype=torch.float64) * 10.0 ** (k % 5 - 2) for k in range(100)]
    theirs = start.clone().requires_grad_()
    optimiser = torch.optim.Adam([theirs], lr=0.1, betas=betas, eps=eps)
    for g in gradients:
        theirs.grad = g.clone()
        optimiser.step()
    mine, state = path(start, gradients, lr=0.1, betas=betas, eps=eps)
    assert torch.allclose(mine, theirs.detach(), rtol=0, atol=1e-11)
    assert state["t"] == 100 and torch.allclose(state["v"], optimiser.state[theirs]["exp_avg_sq"])


@pytest.mark.parametrize("scale", [1e-3, 1e3, 1e6])
def test_the_scale_of_the_gradient_cancels(scale: float) -> None:
    gradients = [torch.randn(5, dtype=torch.float64) for _ in range(20)]
    start = torch.zeros(5, dtype=torch.float64)
    once = path(start, gradients, lr=0.1, eps=0.0)[0]
    assert torch.allclose(path(start, [scale * g for g in gradients], lr=0.1, eps=0.0)[0], once, atol=1e-12)
    assert torch.allclose(path(start, gradients[:1], lr=0.1)[0], -0.1 * gradients[0].sign())


def test_a_parameter_without_gradient_stays_and_tiny_ones_are_finite() -> None:
    assert torch.equal(path(torch.ones(2), [torch.zeros(2)] * 3, lr=0.1)[0], torch.ones(2))
    assert bool(path(torch.ones(2), [torch.full((2,), 1e-20)] * 3, lr=0.1)[0].isfinite().all())
