"""Compare DPO's reference with the formula in high-precision numbers, and with the paper's gradient."""

from __future__ import annotations

import math

import pytest
import torch

from ..conftest import IMPL, load

dpo_loss = load(IMPL / "alignment/dpo-loss/reference.py").dpo_loss


@pytest.mark.parametrize("beta", [0.1, 1.0])
@pytest.mark.parametrize("B", [1, 2, 7])
def test_loss_and_gradient_are_those_of_the_paper(B: int, beta: float) -> None:
    pc, pr, rc, rr = (torch.randn(B, dtype=torch.float64) * 5 - 30 for _ in range(4))
    pc.requires_grad_()
    pr.requires_grad_()
    margins = [beta * ((pc[i] - pr[i]).item() - (rc[i] - rr[i]).item()) for i in range(B)]
    due = sum(math.log1p(math.exp(-margin)) for margin in margins) / B
    loss = dpo_loss(pc, pr, rc, rr, beta)
    assert loss.item() == pytest.approx(due)
    weights = torch.tensor([beta / (1 + math.exp(margin)) / B for margin in margins], dtype=torch.float64)
    chosen, rejected = torch.autograd.grad(loss, (pc, pr))
    assert torch.allclose(chosen, -weights) and torch.allclose(rejected, weights)


def test_policy_and_reference_that_agree_give_log_two() -> None:
    c, r = torch.randn(5), torch.randn(5)
    assert dpo_loss(c, r, c, r, 0.3).item() == pytest.approx(math.log(2))


def test_far_margins_are_linear_on_one_side_and_nothing_on_the_other() -> None:
    zero = torch.zeros(1)
    pc = torch.tensor([-4000.0], requires_grad=True)
    loss = dpo_loss(pc, zero, zero, zero, 1.0)
    assert loss == 4000.0 and torch.autograd.grad(loss, pc)[0] == -1.0
    assert dpo_loss(zero, zero - 4000.0, zero, zero, 1.0) == 0.0
