"""mqa: compare with torch's own attention over repeated heads, and check its laws."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from ..conftest import IMPL, load

mqa = load(IMPL / "cache/mqa/reference.py").mqa


def drawn(*shape: int, scale: float = 1.0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64) * scale


def by_torch(x: Tensor, wq: Tensor, wk: Tensor, wv: Tensor, wo: Tensor, H: int, causal: bool) -> Tensor:
    q = (x @ wq).unflatten(2, (H, -1)).transpose(1, 2)
    k, v = ((x @ w)[:, None].repeat(1, H, 1, 1) for w in (wk, wv))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(1, 2).flatten(2) @ wo


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("scale", [1.0, 60.0])
@pytest.mark.parametrize("sizes", [(1, 1, 1, 1, 1), (2, 5, 6, 3, 4), (3, 4, 5, 1, 7), (1, 7, 2, 8, 1)])
def test_it_is_torchs_attention_over_one_repeated_head(sizes: tuple[int, ...], scale: float, causal: bool) -> None:
    B, T, D, H, d = sizes
    x, wq, wk, wv, wo = drawn(B, T, D, scale=scale), drawn(D, H * d), drawn(D, d), drawn(D, d), drawn(H * d, D)
    got = mqa(x, wq, wk, wv, wo, H, causal)
    assert torch.allclose(got, by_torch(x, wq, wk, wv, wo, H, causal), rtol=1e-10, atol=1e-10)


def test_later_tokens_change_nothing_before_them() -> None:
    x, weights = drawn(1, 6, 5), [drawn(5, 8), drawn(5, 4), drawn(5, 4), drawn(8, 5)]
    other = torch.cat([x[:, :4], drawn(1, 2, 5)], dim=1)
    assert torch.equal(mqa(x, *weights, 2)[:, :4], mqa(other, *weights, 2)[:, :4])
