"""Compare cross-attention with torch's own module; padding and order must not change it."""

import pytest
import torch
from torch import Tensor, nn

from ..conftest import IMPL, load

cross_attention = load(IMPL / "attention/cross-attention/reference.py").cross_attention


def drawn(B: int, T: int, S: int, D: int, Dm: int) -> list[Tensor]:
    shapes = ((B, T, D), (B, S, Dm), (D, D), (Dm, D), (Dm, D), (D, D))
    return [torch.randn(shape, dtype=torch.float64) for shape in shapes]


@pytest.mark.parametrize(("B", "T", "S", "H", "d", "Dm"), [(1, 1, 1, 1, 1, 1), (2, 3, 5, 2, 3, 4), (3, 4, 2, 5, 1, 7)])
@pytest.mark.parametrize("masked", [False, True])
def test_it_is_torchs(B: int, T: int, S: int, H: int, d: int, Dm: int, masked: bool) -> None:
    x, memory, wq, wk, wv, wo = drawn(B, T, S, H * d, Dm)
    module = nn.MultiheadAttention(H * d, H, bias=False, kdim=Dm, vdim=Dm, batch_first=True, dtype=torch.float64)
    names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
    if Dm == H * d:
        module.load_state_dict({"in_proj_weight": torch.cat([wq.T, wk.T, wv.T]), "out_proj.weight": wo.T})
    else:
        weights = {name: w.T for name, w in zip(names, (wq, wk, wv), strict=True)}
        module.load_state_dict({**weights, "out_proj.weight": wo.T})
    mask = torch.arange(S) < torch.randint(1, S + 1, (B, 1)) if masked else None
    due, _ = module(x, memory, memory, key_padding_mask=None if mask is None else ~mask)
    assert torch.allclose(cross_attention(x, memory, wq, wk, wv, wo, H, mask), due, rtol=1e-10, atol=1e-12)


def test_neither_padding_nor_the_order_of_the_memory_matters() -> None:
    x, memory, *weights = drawn(2, 3, 5, 6, 4)
    mask = torch.tensor([[True, True, True, False, False], [True, False, True, True, False]])
    due = cross_attention(x, memory, *weights, 2, mask)
    order = torch.tensor([4, 2, 0, 1, 3])
    changed = memory.masked_fill(~mask[..., None], 1e6)
    got = cross_attention(x, changed[:, order], *weights, 2, mask[:, order])
    assert torch.allclose(got, due, rtol=1e-12, atol=1e-13)


def test_a_memory_of_padding_gives_zeros_and_zero_gradients() -> None:
    tensors = [t.requires_grad_() for t in drawn(2, 3, 5, 6, 4)]
    out = cross_attention(*tensors, 3, torch.tensor([[False] * 5, [True] * 5]))
    gradients = torch.autograd.grad(out.sum(), tensors)
    assert not out[0].any() and not gradients[0][0].any()
    assert all(bool(g.isfinite().all()) for g in gradients)
