"""Compare Lion with a loop over plain numbers, and check the laws of its step."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from ..conftest import IMPL, load

lion_step = load(IMPL / "optimisers/lion/reference.py").lion_step


def number(start: float, gradients: list[float], lr: float, b1: float, b2: float, decay: float) -> tuple[float, float]:
    p, m = start, 0.0
    for g in gradients:
        c = b1 * m + (1 - b1) * g
        p = p * (1 - lr * decay) - lr * ((c > 0) - (c < 0))
        m = b2 * m + (1 - b2) * g
    return p, m


@pytest.mark.parametrize("b1, b2", [(0.9, 0.99), (0.5, 0.2), (0.0, 0.9)])
@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_sixty_steps_are_those_of_a_loop_over_numbers(b1: float, b2: float, decay: float) -> None:
    start = torch.randn(4, dtype=torch.float64)
    gradients = [torch.randn(4, dtype=torch.float64) for _ in range(60)]
    p, state = start, dict[str, Any]()
    for g in gradients:
        p = lion_step(p, g, state, 0.05, (b1, b2), decay)
    for i in range(4):
        due = number(float(start[i]), [float(g[i]) for g in gradients], 0.05, b1, b2, decay)
        assert (float(p[i]), float(state["m"][i])) == pytest.approx(due, abs=1e-12)
    assert set(state) == {"m"}


def test_without_gradient_only_decay_moves_and_any_gradient_moves_by_lr() -> None:
    assert torch.allclose(lion_step(torch.ones(2), torch.zeros(2), {}, 0.1, weight_decay=0.5), torch.full((2,), 0.95))
    assert torch.equal(lion_step(torch.zeros(2), torch.tensor([1e-20, -1e6]), {}, 0.1), torch.tensor([-0.1, 0.1]))
