"""Compare GRPO's reference with a loop over single tokens; masked tokens and shifted rewards must not matter."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from ..conftest import IMPL, load

grpo = load(IMPL / "alignment/grpo-loss/reference.py").grpo


def drawn(*shape: int) -> tuple[Tensor, ...]:
    logp = torch.randn(shape, dtype=torch.float64) - 2
    return logp.requires_grad_(), *(logp.detach() + 0.3 * torch.randn(shape) for _ in range(2))


@pytest.mark.parametrize(("B", "G", "T"), [(1, 1, 1), (2, 3, 4), (3, 4, 2)])
def test_the_loss_is_that_of_a_loop_over_tokens(B: int, G: int, T: int) -> None:
    logp, old, ref = drawn(B, G, T)
    rewards, mask = torch.randn(B, G, dtype=torch.float64), torch.rand(B, G, T) < 0.7
    total = 0.0
    for b in range(B):
        mean = sum(rewards[b].tolist()) / G
        std = math.sqrt(sum((r - mean) ** 2 for r in rewards[b].tolist()) / G)
        for g in range(G):
            A, gains = (rewards[b, g].item() - mean) / (std + 0.01), []
            for t in range(T):
                if mask[b, g, t]:
                    rho, d = torch.exp(logp[b, g, t] - old[b, g, t]), ref[b, g, t] - logp[b, g, t]
                    capped = rho * A if A * (rho - 1) < 0.2 * abs(A) else (1.2 if A > 0 else 0.8) * A
                    gains.append(capped - 0.1 * (torch.exp(d) - d - 1))
            total = total - (sum(gains) / len(gains) if gains else 0.0) / (B * G)
    loss = grpo(logp, old, ref, rewards, mask, 0.2, 0.1, 0.01)
    assert loss.item() == pytest.approx(total.item() if isinstance(total, Tensor) else total)
    if isinstance(total, Tensor):
        mine, theirs = (torch.autograd.grad(value, logp)[0] for value in (loss, total))
        assert torch.allclose(mine, theirs, atol=1e-12)


def test_masked_tokens_and_the_level_of_rewards_do_not_matter() -> None:
    (logp, old, ref), rewards = drawn(2, 3, 4), torch.randn(2, 3, dtype=torch.float64)
    mask = torch.arange(4).expand(2, 3, 4) < 2
    garbage = [part.detach().masked_fill(~mask, math.inf) for part in (logp, old, ref)]
    due = grpo(logp, old, ref, rewards, mask, 0.2, 0.1)
    assert torch.allclose(grpo(*garbage, rewards + 5.0, mask, 0.2, 0.1), due)


def test_equal_rewards_leave_the_kl_alone_which_is_never_negative() -> None:
    logp, old, ref = drawn(2, 3, 4)
    loss = grpo(logp, old, ref, torch.full((2, 3), 0.5), torch.ones(2, 3, 4), 0.2, 1.0)
    d = ref - logp
    assert torch.allclose(loss, (d.exp() - d - 1).mean()) and loss > 0
