"""Compare the balance loss with a loop over single choices, and check its values at uniform load and collapse."""

from __future__ import annotations

import pytest
import torch

from ..conftest import IMPL, load

switch_aux_loss = load(IMPL / "experts/moe-load-balance-loss/reference.py").switch_aux_loss


@pytest.mark.parametrize(("N", "E", "k"), [(1, 1, 1), (6, 4, 1), (5, 7, 3), (3, 3, 3)])
def test_the_loss_counts_every_choice(N: int, E: int, k: int) -> None:
    probs = torch.rand(N, E, dtype=torch.float64, requires_grad=True)
    idx = torch.rand(N, E).argsort(-1)[:, :k]
    counts = [0] * E
    for row in idx.tolist():
        for expert in row:
            counts[expert] += 1
    due = sum(0.3 * E * counts[e] / (N * k) * sum(probs[t, e] for t in range(N)) / N for e in range(E))
    loss = switch_aux_loss(probs, idx, 0.3)
    assert loss.shape == () and torch.allclose(loss, due, atol=1e-12)
    mine, theirs = (torch.autograd.grad(value, probs)[0] for value in (loss, due))
    assert torch.allclose(mine, theirs, atol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_uniform_load_gives_alpha_and_collapse_alpha_e_over_k(k: int) -> None:
    uniform = switch_aux_loss(torch.full((8, 4), 0.25), (torch.arange(k) + torch.arange(8)[:, None]) % 4, 0.01)
    probs = torch.zeros(8, 4)
    probs[:, :k] = 1 / k
    collapsed = switch_aux_loss(probs, torch.arange(k).expand(8, k), 0.01)
    assert torch.allclose(uniform, torch.tensor(0.01)) and torch.allclose(collapsed, torch.tensor(0.01 * 4 / k))
