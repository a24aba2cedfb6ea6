"""Compare the ring with torch's attention over the joined chunks."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from tests.impl.conftest import IMPL, load

ring_attention = load(IMPL / "parallel/ring-attention-sim/reference.py").ring_attention


@pytest.mark.parametrize("lengths", [(4,), (1, 1, 1), (3, 5), (2, 7, 1, 4)])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("size", [1.0, 12.0])
def test_the_ring_computes_attention_over_the_whole_sequence(lengths, causal, size):
    q, k, v = (torch.randn(2, 3, sum(lengths), 4, dtype=torch.float64, requires_grad=True) for _ in range(3))
    got = ring_attention(*((size * q).split(lengths, 2), (size * k).split(lengths, 2), v.split(lengths, 2)), causal)
    due = F.scaled_dot_product_attention(size * q, size * k, v, is_causal=causal)
    assert [chunk.shape[2] for chunk in got] == list(lengths)
    assert torch.allclose(torch.cat(got, 2), due, rtol=1e-9, atol=1e-11)
    for mine, theirs in zip(
        torch.autograd.grad(torch.cat(got, 2).square().sum(), (q, k, v)),
        torch.autograd.grad(due.square().sum(), (q, k, v)),
        strict=True,
    ):
        assert torch.allclose(mine, theirs, rtol=1e-7, atol=1e-8)
