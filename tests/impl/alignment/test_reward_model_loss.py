"""Compare the reward model's reference with torch's binary cross-entropy, and with single numbers."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from ..conftest import IMPL, load

rm_loss = load(IMPL / "alignment/reward-model-loss/reference.py").rm_loss


@pytest.mark.parametrize("with_margin", [False, True])
@pytest.mark.parametrize("B", [1, 2, 7])
def test_the_loss_is_binary_cross_entropy_on_the_lead(B: int, with_margin: bool) -> None:
    chosen, rejected, margin = (torch.randn(B, dtype=torch.float64, requires_grad=True) for _ in range(3))
    lead = chosen - rejected - (margin if with_margin else 0.0)
    due = F.binary_cross_entropy_with_logits(lead, torch.ones(B, dtype=torch.float64))
    loss = rm_loss(chosen, rejected, margin if with_margin else None)
    by_hand = sum(math.log1p(math.exp(-x)) for x in lead.tolist()) / B
    assert torch.allclose(loss, due, atol=1e-12) and loss.item() == pytest.approx(by_hand)
    mine, theirs = (torch.autograd.grad(value, (chosen, rejected)) for value in (loss, due))
    assert all(torch.allclose(a, b, atol=1e-12) for a, b in zip(mine, theirs, strict=True))


@pytest.mark.parametrize(("lead", "due"), [(0.0, math.log(2)), (4000.0, 0.0), (-4000.0, 4000.0)])
def test_the_loss_is_linear_on_the_wrong_side_and_nothing_on_the_right_one(lead: float, due: float) -> None:
    score = torch.tensor([lead], requires_grad=True)
    loss = rm_loss(score, torch.zeros(1))
    assert loss.item() == pytest.approx(due)
    slope = {0.0: -0.5, 4000.0: 0.0, -4000.0: -1.0}[lead]
    assert torch.autograd.grad(loss, score)[0].item() == pytest.approx(slope)
