"""cross-entropy-kernel: compare with torch's own cross-entropy, row by row, and with autograd's gradient of its sum."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from ..conftest import IMPL, load

cross_entropy = load(IMPL / "kernels/cross-entropy-kernel/reference.py").cross_entropy


@pytest.mark.parametrize("scale", [1.0, 1e4])
@pytest.mark.parametrize("ignored", [-100, 0, 3])
@pytest.mark.parametrize(("N", "V"), [(1, 1), (5, 4), (3, 2000)])
def test_losses_and_gradient_are_those_of_torch(N: int, V: int, ignored: int, scale: float) -> None:
    logits = (torch.randn(N, V, dtype=torch.float64) * scale).requires_grad_()
    targets = torch.randint(0, V, (N,))
    targets[0] = ignored
    due = F.cross_entropy(logits, targets, ignore_index=ignored, reduction="none")
    losses, gradient = cross_entropy(logits.detach(), targets, ignored)
    assert torch.allclose(losses, due, rtol=1e-12, atol=1e-10)
    assert torch.allclose(gradient, torch.autograd.grad(due.sum(), logits)[0], rtol=1e-10, atol=1e-12)


def test_masked_classes_have_no_gradient_and_sixteen_bits_wide_losses() -> None:
    losses, gradient = cross_entropy(torch.tensor([[0.0, -torch.inf, 0.0]]).half(), torch.tensor([2]))
    assert losses.dtype == torch.float32 and gradient.tolist() == [[0.5, 0.0, -0.5]]
