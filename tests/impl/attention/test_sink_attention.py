"""Compare attention with a sink with torch's attention over one more key of value zero, and check its laws."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from tests.impl.conftest import IMPL, load

sink_attention = load(IMPL / "attention/sink-attention/reference.py").sink_attention


def drawn(H, G, T, S, size=1.0):
    shapes = ((2, H, T, 4), (2, G, S, 4), (2, G, S, 4), (H,))
    q, k, v, sink = (torch.randn(*shape, dtype=torch.float64) for shape in shapes)
    return q * size, k * size, v, sink * size


@pytest.mark.parametrize(("H", "G", "T", "S"), [(1, 1, 1, 1), (4, 2, 3, 5), (3, 3, 4, 4), (6, 1, 2, 7)])
@pytest.mark.parametrize("window", [None, 1, 3])
def test_it_is_torchs_attention_over_one_more_key(H, G, T, S, window):
    q, k, v, sink = drawn(H, G, T, S)
    keys, values = (t.repeat_interleave(H // G, dim=1) for t in (k, v))
    visible = torch.ones(T, S, dtype=torch.bool).tril(S - T)
    visible = visible if window is None else visible.triu(S - T - window + 1)
    bias = torch.zeros(H, T, S + 1, dtype=torch.float64)
    bias[..., :S] = bias[..., :S].masked_fill(~visible, -math.inf)
    bias[..., S] = sink[:, None]  # a key of zeros scores 0, and the sink is added to that
    due = F.scaled_dot_product_attention(q, F.pad(keys, (0, 0, 0, 1)), F.pad(values, (0, 0, 0, 1)), attn_mask=bias)
    assert torch.allclose(sink_attention(q, k, v, sink, window), due, rtol=1e-10, atol=1e-12)


def test_without_a_sink_it_is_ordinary_and_passes_no_gradient_to_it():
    q, k, v, sink = drawn(2, 1, 4, 4)
    nothing = torch.full_like(sink, -math.inf).requires_grad_()
    got = sink_attention(q, k, v, nothing)
    due = F.scaled_dot_product_attention(q, k.expand_as(q), v.expand_as(q), is_causal=True)
    assert torch.allclose(got, due) and torch.equal(torch.autograd.grad(got.sum(), nothing)[0], torch.zeros(2).double())


def test_gradients_are_finite_where_the_sink_leads_by_a_thousand():
    args = [t.requires_grad_() for t in (*drawn(2, 2, 3, 3)[:3], torch.tensor([1e3, -1e3], dtype=torch.float64))]
    grads = torch.autograd.grad(sink_attention(*args).square().sum(), args)
    assert all(bool(g.isfinite().all()) for g in grads)
