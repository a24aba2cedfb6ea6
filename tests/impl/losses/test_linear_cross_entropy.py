"""Compare the chunked loss with torch's own over full logits, in value and gradient."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from tests.impl.conftest import IMPL, load

linear_cross_entropy = load(IMPL / "losses/linear-cross-entropy/reference.py").linear_cross_entropy


def drawn(N, V, size=1.0):
    return [(torch.randn(rows, 4, dtype=torch.float64) * size).requires_grad_() for rows in (N, V)]


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1024])
@pytest.mark.parametrize(("N", "V"), [(7, 5), (1, 1), (3, 9)])
@pytest.mark.parametrize(("size", "ignore_index"), [(1.0, -100), (60.0, 0)])
def test_it_is_torchs_loss_over_all_logits(chunk, N, V, size, ignore_index):
    x, w = drawn(N, V, size)
    target = torch.randint(V, (N,))
    target[N // 2] = ignore_index
    target[-1] = V - 1
    mine = linear_cross_entropy(x, w, target, chunk, ignore_index)
    due = F.cross_entropy(x @ w.T, target, ignore_index=ignore_index, reduction="sum") / max(
        1, (target != ignore_index).sum()
    )
    assert torch.allclose(mine, due, rtol=1e-12, atol=1e-12)
    for ours, theirs in zip(*(torch.autograd.grad(3 * loss, (x, w)) for loss in (mine, due)), strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def test_nothing_to_learn_from_is_a_loss_of_zero_with_zero_gradients():
    x, w = drawn(4, 3)
    loss = linear_cross_entropy(x, w, torch.full((4,), -100), 2)
    assert loss.item() == 0.0
    assert all(torch.equal(g, torch.zeros_like(g)) for g in torch.autograd.grad(loss, (x, w)))


def test_the_backward_pass_keeps_no_logits():
    x, w = drawn(64, 512)
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.numel()) or t, lambda t: t):
        linear_cross_entropy(x, w, torch.arange(64), 8)
    assert max(kept) < 64 * 512 / 4
