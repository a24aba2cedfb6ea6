"""Compare the iteration with its scalar polynomial on the singular values, and the step with momentum by hand."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from ..conftest import IMPL, load

muon = load(IMPL / "optimisers/muon/reference.py")


def by_svd(G: Tensor, steps: int) -> Tensor:
    left, values, right = torch.linalg.svd(G / (G.square().sum().sqrt() + 1e-7), full_matrices=False)
    for _ in range(steps):
        values = 3.4445 * values - 4.7750 * values**3 + 2.0315 * values**5
    return (left * values) @ right


@pytest.mark.parametrize("O, I", [(1, 1), (5, 5), (3, 8), (8, 3), (1, 6), (20, 30)])
@pytest.mark.parametrize("steps", [0, 1, 5])
def test_every_singular_value_is_lifted_by_itself(O: int, I: int, steps: int) -> None:
    G = torch.randn(O, I, dtype=torch.float64) * 30
    assert torch.allclose(muon.newton_schulz5(G, steps), by_svd(G, steps), atol=1e-9)


@pytest.mark.parametrize("O, I", [(6, 6), (9, 5), (5, 9)])
def test_five_steps_bring_a_spectrum_near_one(O: int, I: int) -> None:
    left, right = (torch.linalg.qr(torch.randn(n, 5, dtype=torch.float64))[0] for n in (O, I))
    G = (left * torch.tensor([1.0, 0.3, 0.1, 0.02, 2.3e-3])) @ right.T
    values = torch.linalg.svdvals(muon.newton_schulz5(G))[:5]
    assert float(values.min()) >= 0.68 and float(values.max()) <= 1.21


@pytest.mark.parametrize("nesterov", [True, False])
def test_steps_are_momentum_and_then_the_polynomial(nesterov: bool) -> None:
    W, state, buf = torch.randn(6, 2, dtype=torch.float64), dict[str, Any](), torch.zeros(6, 2, dtype=torch.float64)
    for _ in range(5):
        g = torch.randn(6, 2, dtype=torch.float64)
        buf = 0.9 * buf + g
        due = W - 0.1 * 3**0.5 * by_svd(g + 0.9 * buf if nesterov else buf, 5)
        W = muon.muon_step(W, g, state, 0.1, 0.9, nesterov)
        assert torch.allclose(W, due, atol=1e-9) and torch.allclose(state["buf"], buf)
