"""Compare the gradients of layer normalisation with autograd, and check which components must vanish."""

import pytest
import torch
import torch.nn.functional as F

from ..conftest import IMPL, load

layer_norm_backward = load(IMPL / "norms/layer-norm-backward/reference.py").layer_norm_backward


@pytest.mark.parametrize("shape", [(1,), (7,), (3, 1), (2, 3, 5), (2, 1, 4, 130)])
@pytest.mark.parametrize("eps", [1e-8, 1e-5, 1.0])
@pytest.mark.parametrize("mean", [0.0, 1e4])
def test_they_are_autograds(shape: tuple[int, ...], eps: float, mean: float) -> None:
    x = (torch.randn(shape, dtype=torch.float64) + mean).requires_grad_()
    gamma, beta = (torch.randn(shape[-1], dtype=torch.float64, requires_grad=True) for _ in range(2))
    dy = torch.randn(shape, dtype=torch.float64)
    due = torch.autograd.grad(F.layer_norm(x, shape[-1:], gamma, beta, eps), [x, gamma, beta], dy)
    for mine, theirs in zip(layer_norm_backward(dy, x.detach(), gamma.detach(), eps), due, strict=True):
        assert mine.shape == theirs.shape and torch.allclose(mine, theirs, rtol=1e-7, atol=1e-8)


def test_shift_and_stretch_drop_out_of_dx() -> None:
    x, dy, gamma = (torch.randn(shape, dtype=torch.float64) for shape in ((4, 6), (4, 6), (6,)))
    dx, _, _ = layer_norm_backward(dy, x, gamma, 1e-12)
    centred = x - x.mean(-1, keepdim=True)
    assert torch.allclose(dx.sum(-1), torch.zeros(4).double(), atol=1e-12)
    assert torch.allclose((dx * centred).sum(-1), torch.zeros(4).double(), atol=1e-10)
