"""Compare the language-model loss with torch's cross-entropy, and its z-loss with a loop."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from ..conftest import IMPL, load

lm_loss = load(IMPL / "losses/causal-lm-loss/reference.py").lm_loss


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float32])
@pytest.mark.parametrize(("B", "T", "V"), [(1, 2, 1), (2, 5, 3), (4, 9, 11)])
def test_the_loss_is_torchs_over_the_targets(B: int, T: int, V: int, dtype: torch.dtype) -> None:
    logits = torch.randn(B, T, V, dtype=torch.float64, requires_grad=True)
    ids, mask = torch.randint(V, (B, T)), torch.rand(B, T) < 0.6
    mask[0, 1] = True
    labels = ids.masked_fill(~mask, -100)[:, 1:]
    due = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels.flatten())
    loss = lm_loss(logits, ids, mask.to(dtype))
    assert torch.allclose(loss, due, atol=1e-12)
    assert torch.allclose(*(torch.autograd.grad(value, logits)[0] for value in (loss, due)), atol=1e-12)
    assert torch.allclose(lm_loss(logits, ids), lm_loss(logits, ids, torch.ones(B, T)))


def test_the_z_loss_is_the_mean_square_over_the_same_targets() -> None:
    logits, ids, mask = torch.randn(2, 5, 4), torch.randint(4, (2, 5)), torch.rand(2, 5) < 0.6
    mask[1, 4] = True
    squares = [logits[b, t].exp().sum().log() ** 2 for b in range(2) for t in range(4) if mask[b, t + 1]]
    due = lm_loss(logits, ids, mask) + 0.3 * sum(squares) / len(squares)
    assert torch.allclose(lm_loss(logits, ids, mask, 0.3), due, atol=1e-5)


def test_without_targets_loss_and_gradient_are_zero() -> None:
    logits = torch.randn(2, 3, 4, requires_grad=True)
    loss = lm_loss(logits, torch.zeros(2, 3, dtype=torch.long), torch.zeros(2, 3), 0.1)
    assert loss == 0 and not torch.autograd.grad(loss, logits)[0].any()
