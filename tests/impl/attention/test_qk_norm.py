"""Compare QK-norm with torch's own norm and attention, and check the bound on its scores."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from ..conftest import IMPL, load

qk_norm_attention = load(IMPL / "attention/qk-norm/reference.py").qk_norm_attention


def drawn(B: int, H: int, T: int, d: int) -> list[Tensor]:
    return [torch.randn(shape, dtype=torch.float64) for shape in ((B, H, T, d),) * 3 + ((d,),) * 2]


@pytest.mark.parametrize(("B", "H", "T", "d"), [(1, 1, 1, 1), (2, 3, 5, 4), (1, 2, 4, 7)])
@pytest.mark.parametrize("eps", [1e-6, 0.5])
@pytest.mark.parametrize("masked", [False, True])
def test_it_is_torchs(B: int, H: int, T: int, d: int, eps: float, masked: bool) -> None:
    q, k, v, gq, gk = drawn(B, H, T, d)
    mask = torch.ones(T, T, dtype=torch.bool).tril() if masked else None
    due = F.scaled_dot_product_attention(F.rms_norm(q, (d,), gq, eps), F.rms_norm(k, (d,), gk, eps), v, mask)
    assert torch.allclose(qk_norm_attention(q, k, v, gq, gk, mask, eps), due, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("size", [1.0, 1e6])
def test_weights_keep_to_the_bound_of_the_gains(size: float) -> None:
    q, k, _, gq, gk = drawn(1, 2, 3, 3)
    eye = torch.eye(3, dtype=torch.float64).expand(1, 2, 3, 3)
    weights = qk_norm_attention(size * q, size * k, eye, gq, gk)  # values that show the weights
    bound = math.sqrt(3) * float(gq.abs().max() * gk.abs().max())
    assert float(weights.log().amax(-1).sub(weights.log().amin(-1)).max()) <= 2 * bound
    assert torch.allclose(weights, qk_norm_attention(q, k, eye, gq, gk), rtol=1e-4)


def test_a_query_that_sees_nothing_gives_zeros_and_zero_gradients() -> None:
    tensors = [t.requires_grad_() for t in drawn(1, 1, 2, 3)]
    out = qk_norm_attention(*tensors, torch.tensor([[False, False], [True, True]]))
    gradients = torch.autograd.grad(out.sum(), tensors)
    assert not out[..., 0, :].any() and not gradients[0][..., 0, :].any()
    assert all(bool(g.isfinite().all()) for g in gradients)
