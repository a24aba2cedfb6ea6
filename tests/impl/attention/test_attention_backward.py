"""Compare the gradients of attention with autograd, and check the sums that they must preserve."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from ..conftest import IMPL, load

sdpa_backward = load(IMPL / "attention/attention-backward/reference.py").sdpa_backward


def drawn(lead: tuple[int, ...], T: int, S: int, d: int, dv: int) -> list[Tensor]:
    return [torch.randn((*lead, *shape), dtype=torch.float64) for shape in ((T, d), (S, d), (S, dv), (T, dv))]


@pytest.mark.parametrize("lead", [(), (2,), (2, 1, 3)])
@pytest.mark.parametrize(("T", "S", "d", "dv"), [(1, 1, 1, 1), (3, 5, 4, 2), (4, 1, 2, 7), (5, 5, 5, 5)])
@pytest.mark.parametrize("scale", [1.0, 6.0])
def test_they_are_autograds(lead: tuple[int, ...], T: int, S: int, d: int, dv: int, scale: float) -> None:
    q, k, v, do = drawn(lead, T, S, d, dv)
    leaves = [(scale * q).requires_grad_(), (scale * k).requires_grad_(), v.requires_grad_()]
    due = torch.autograd.grad(F.scaled_dot_product_attention(*leaves), leaves, do)
    for mine, theirs in zip(sdpa_backward(*(t.detach() for t in leaves), do), due, strict=True):
        assert torch.allclose(mine, theirs, rtol=1e-9, atol=1e-12)


def test_neither_a_shift_of_all_keys_nor_one_of_all_values_changes_the_weights() -> None:
    q, k, v, do = drawn((2,), 3, 5, 4, 2)
    dq, dk, dv = sdpa_backward(q, k, v, do)
    assert torch.allclose(dk.sum(-2), torch.zeros(2, 4).double(), atol=1e-12)
    assert torch.allclose(dv.sum(-2), do.sum(-2), rtol=1e-12)
    assert torch.allclose(sdpa_backward(q, k, v + 7.0, do)[0], dq, rtol=1e-9, atol=1e-12)
