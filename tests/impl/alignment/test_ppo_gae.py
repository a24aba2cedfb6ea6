"""Compare GAE's reference with the definition as a sum over all later steps, and at its two limits."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ..conftest import IMPL, load

gae = load(IMPL / "alignment/ppo-gae/reference.py").gae


def rollout(B: int, T: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    rewards, values, last = (torch.randn(size, dtype=torch.float64) for size in ((B, T), (B, T), (B,)))
    return rewards, values, torch.rand(B, T) < 0.3, last


@pytest.mark.parametrize(("gamma", "lam"), [(0.9, 0.8), (1.0, 1.0), (0.5, 0.0), (0.0, 0.7)])
@pytest.mark.parametrize(("B", "T"), [(1, 1), (2, 5), (3, 9)])
def test_an_advantage_is_the_discounted_sum_of_the_errors_up_to_its_end(
    B: int, T: int, gamma: float, lam: float
) -> None:
    rewards, values, dones, last = rollout(B, T)
    adv, returns = gae(rewards, values, dones, last, gamma, lam)
    for b in range(B):
        ahead = [*values[b, 1:].tolist(), last[b].item()]
        for t in range(T):
            due = 0.0
            for s in range(t, T):
                nothing_more = bool(dones[b, s])
                delta = rewards[b, s] + (0.0 if nothing_more else gamma * ahead[s]) - values[b, s]
                due += (gamma * lam) ** (s - t) * delta.item()
                if nothing_more:
                    break
            assert adv[b, t].item() == pytest.approx(due, abs=1e-12)
    assert torch.allclose(returns, adv + values)


def test_with_lambda_one_returns_are_discounted_rewards() -> None:
    rewards, values, _, last = rollout(1, 4)
    _, returns = gae(rewards, values, torch.zeros(1, 4), last, 0.5, 1.0)
    due = sum(0.5**t * rewards[0, t] for t in range(4)) + 0.5**4 * last[0]
    assert torch.allclose(returns[0, 0], due)


def test_targets_hang_on_no_graph() -> None:
    rewards, values, dones, last = rollout(2, 3)
    results = gae(rewards, values.requires_grad_(), dones, last.requires_grad_(), 0.9, 0.9)
    assert not any(part.requires_grad for part in results)
