"""Compare block selection with a loop over single queries, and with full attention if every block is chosen."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from tests.impl.conftest import IMPL, load

attend = load(IMPL / "efficient/block-topk-sparse/reference.py").topk_block_attention


def drawn(T):
    return [torch.randn(2, 3, T, 4, dtype=torch.float64) for _ in range(3)]


def one_by_one(q, k, v, block, k_blocks):
    out = torch.zeros_like(v)
    for b, h, t in ((b, h, t) for b in range(2) for h in range(3) for t in range(q.shape[2])):
        own = t // block
        scores = [float(q[b, h, t] @ k[b, h, j * block : (j + 1) * block].mean(0)) for j in range(own)]
        best = sorted(range(own), key=lambda j: -scores[j])[: k_blocks - 1]
        seen = [i for j in best for i in range(j * block, (j + 1) * block)] + list(range(own * block, t + 1))
        out[b, h, t] = torch.softmax(k[b, h, seen] @ q[b, h, t] / 2.0, 0) @ v[b, h, seen]
    return out


@pytest.mark.parametrize(
    ("T", "block", "k_blocks"), [(1, 1, 1), (9, 2, 2), (11, 3, 2), (12, 1, 4), (7, 4, 1), (10, 3, 9)]
)
def test_each_query_reads_its_own_block_and_the_best_past_ones(T, block, k_blocks):
    args = drawn(T)
    assert torch.allclose(attend(*args, block, k_blocks), one_by_one(*args, block, k_blocks), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("block", "k_blocks"), [(3, 4), (3, 40), (10, 1), (25, 2)])
def test_all_blocks_are_full_causal_attention(block, k_blocks):
    args = [t.requires_grad_() for t in drawn(10)]
    mine, due = attend(*args, block, k_blocks), F.scaled_dot_product_attention(*args, is_causal=True)
    assert torch.allclose(mine, due, atol=1e-12)
    for ours, theirs in zip(*(torch.autograd.grad(y.square().sum(), args) for y in (mine, due)), strict=True):
        assert torch.allclose(ours, theirs, atol=1e-10)
