"""Recompute the numbers behind the corrections of common errors that no experiment of impl/experiments shows."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

DOUBLE = torch.float64


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def test_e15_softmax_over_the_queries_leaves_rows_that_do_not_sum_to_one():
    scores = torch.randn(3, 3).masked_fill(torch.ones(3, 3).triu(1).bool(), float("-inf"))
    sums = scores.softmax(-2).sum(-1)
    assert float(sums.sum()) == pytest.approx(3, abs=1e-5)
    assert float((sums - 1).abs().max()) > 0.1
    assert torch.allclose(scores.softmax(-1).sum(-1), torch.ones(3))


def test_e17_masking_after_softmax_loses_the_row_when_a_hidden_logit_leads_by_200():
    scores = torch.tensor([0.0, 1.0, 200.0])
    keep = torch.tensor([True, True, False])
    late = scores.softmax(-1) * keep
    assert torch.isnan(late / late.sum()).all()
    early = scores.masked_fill(~keep, float("-inf")).softmax(-1)
    assert float(early.sum()) == pytest.approx(1)


def test_e25_with_one_projection_for_q_and_k_tokens_pick_themselves():
    def share(sigma):
        hits = []
        for _ in range(100):
            x = torch.randn(32, 64) * torch.exp(sigma * torch.randn(32, 1))
            h = x @ torch.randn(64, 64) / 8
            scores = h @ h.T
            assert torch.allclose(scores, scores.T, rtol=1e-4, atol=1e-4)
            hits.append((scores.argmax(-1) == torch.arange(32)).float().mean())
        return float(torch.stack(hits).mean())

    assert share(0.0) > 0.99
    assert 0.7 < share(0.5) < 0.95


def test_e36_minus_infinity_is_exactly_zero_unless_the_whole_row_is_masked():
    row = torch.tensor([1.0, float("-inf"), 2.0]).softmax(-1)
    assert float(row[1]) == 0
    assert torch.isnan(torch.full((4,), float("-inf")).softmax(-1)).all()
    q = torch.randn(1, 1, 2, 4, requires_grad=True)
    mask = torch.tensor([[True, True, False], [False, False, False]])
    out = F.scaled_dot_product_attention(q, torch.randn(1, 1, 3, 4), torch.randn(1, 1, 3, 4), attn_mask=mask)
    assert float(out[0, 0, 1].abs().max()) == 0
    out.sum().backward()
    assert torch.isfinite(q.grad).all()


def test_e38_decoding_needs_no_mask_and_is_causal_with_one_query_sees_one_key():
    x = torch.randn(1, 1, 9, 8)
    full = F.scaled_dot_product_attention(x, x, x, is_causal=True)[..., -1:, :]
    step = F.scaled_dot_product_attention(x[..., -1:, :], x, x)
    assert float((full - step).abs().max()) < 1e-5
    wrong = F.scaled_dot_product_attention(x[..., -1:, :], x, x, is_causal=True)
    assert torch.allclose(wrong, x[..., :1, :], atol=1e-5)
    assert float((wrong - full).abs().max()) > 0.5


def test_e41_dropout_keeps_the_mean_and_not_the_row_sum():
    weights = torch.randn(2000, 16).softmax(-1)
    dropped = F.dropout(weights, 0.5)
    sums = dropped.sum(-1)
    assert float(sums.mean()) == pytest.approx(1, abs=0.03)
    assert float(sums.std()) > 0.1


def test_e46_odd_widths_fail_and_bfloat16_does_not_know_every_integer():
    with pytest.raises(RuntimeError):
        torch.zeros(4, 5)[:, 1::2] = torch.zeros(4, 3)
    assert float(torch.tensor(257.0).bfloat16()) == 256
    assert float(torch.tensor(259.0).bfloat16()) == 260


def test_e55_scaled_default_embeddings_drown_the_positions():
    table = nn.Embedding(2000, 512).weight.detach() * math.sqrt(512)
    assert float(table.std()) == pytest.approx(22.6, rel=0.02)
    angles = torch.arange(100.0)[:, None] / 10000 ** (torch.arange(256) / 256)
    positions = torch.cat([angles.sin(), angles.cos()], dim=-1)
    assert float(positions.square().mean().sqrt()) == pytest.approx(0.7071, abs=1e-3)


def test_e57_biased_and_unbiased_layer_norm_differ_by_a_known_ratio():
    for d, ratio in ((4, 0.866), (64, 0.992), (512, 0.999)):
        x = torch.randn(100, d, dtype=DOUBLE)
        centred = x - x.mean(-1, keepdim=True)
        found = (centred / x.std(-1, keepdim=True)) / (centred / x.var(-1, unbiased=False, keepdim=True).sqrt())
        assert float(found.mean()) == pytest.approx(math.sqrt((d - 1) / d), abs=1e-9)
        assert math.sqrt((d - 1) / d) == pytest.approx(ratio, abs=5e-4)
    x = 1e-3 * torch.randn(1000, 512, dtype=DOUBLE)
    centred = x - x.mean(-1, keepdim=True)
    outside = centred / (x.std(-1, keepdim=True) + 1e-5)
    inside = centred / (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
    assert float(outside.std()) == pytest.approx(0.99, abs=0.01)
    assert float(inside.std()) == pytest.approx(1 / math.sqrt(11), abs=0.01)
