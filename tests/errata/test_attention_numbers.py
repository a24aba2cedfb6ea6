"""Recompute the numbers behind the corrections of common errors: attention, masks, positions (E15 … E62).

With random inputs the last digits depend on the draw, so only sizes and signs are asserted.
"""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

DOUBLE = torch.float64


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def attention(x, wq=None, wk=None, wv=None, causal=False):
    q, k, v = (x if w is None else x @ w for w in (wq, wk, wv))
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        scores = scores.masked_fill(torch.ones(x.shape[-2], x.shape[-2]).triu(1).bool(), float("-inf"))
    return scores.softmax(-1) @ v


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


def test_e19_without_the_scale_variance_is_d_and_the_jacobian_vanishes():
    traces = {}
    for d in (16, 64, 256, 1024):
        scores = torch.randn(4000, d) @ torch.randn(64, d).T
        assert float(scores.var()) == pytest.approx(d, rel=0.15)
        for scaled in (False, True):
            p = (scores / math.sqrt(d) if scaled else scores).softmax(-1)
            traces[d, scaled] = float((p * (1 - p)).sum(-1).mean())
            if d == 1024:
                top = float(p.max(-1).values.mean())
                assert (top < 0.2) if scaled else (top > 0.9)
    assert traces[1024, False] < 0.15 < 0.4 < traces[16, False]
    assert min(traces[d, True] for d in (16, 64, 256, 1024)) > 0.9


def test_e22_the_number_of_heads_does_not_change_the_flops():
    found = set()
    for heads in (1, 8, 32):
        layer = nn.MultiheadAttention(256, heads, bias=False, batch_first=True)
        with FlopCounterMode(display=False) as counter:
            layer(*[torch.randn(1, 128, 256)] * 3)
        found.add(counter.get_total_flops())
    assert found == {83_886_080}


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


def test_e29_attention_is_not_linear_and_only_the_residual_prevents_rank_collapse():
    layers = [[torch.randn(16, 16) / 4 for _ in range(3)] for _ in range(2)]

    def stack(x):
        for weights in layers:
            x = attention(x, *weights)
        return x

    a, b = torch.randn(8, 16), torch.randn(8, 16)
    assert float((stack(a + b) - stack(a) - stack(b)).abs().max()) > 0.1
    assert float((stack(3 * a) - 3 * stack(a)).abs().max()) > 0.1

    x = torch.randn(32, 64)
    distances = []
    for _ in range(4):
        x = attention(x, *[torch.randn(64, 64) / 8 for _ in range(3)])
        x = x / x.norm() * math.sqrt(x.numel())
        distances.append(float((x - x.mean(0)).norm() / x.norm()))
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 0.05


def test_e30_e31_attention_is_equivariant_until_a_causal_mask():
    x, order = torch.randn(6, 8), torch.tensor([3, 0, 5, 1, 4, 2])
    plain = attention(x)
    assert torch.allclose(attention(x[order]), plain[order], atol=1e-5)
    assert float((attention(x[order]) - plain).abs().max()) > 0.1
    assert float((attention(x[order], causal=True) - attention(x, causal=True)[order]).abs().max()) > 0.1


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


def test_e37_what_minus_1e9_does():
    with pytest.raises(RuntimeError, match="overflow"):
        torch.zeros(4, dtype=torch.float16).masked_fill(torch.ones(4).bool(), -1e9)
    assert torch.isinf(torch.zeros(4).half() + torch.tensor(-1e9).half()).all()
    filled = torch.randn(4).masked_fill(torch.ones(4).bool(), -1e9).softmax(-1)
    assert torch.equal(filled, torch.full((4,), 0.25))
    assert torch.equal((torch.randn(4) - 1e9).softmax(-1), torch.full((4,), 0.25))
    low = torch.finfo(torch.float16).min
    assert torch.isinf((torch.zeros(1).half() + low) + low).all()


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


def sinusoidal(length, d, cosine_shift):
    position = torch.arange(length, dtype=DOUBLE)[:, None]
    i = torch.arange(d // 2, dtype=DOUBLE)
    table = torch.zeros(length, d, dtype=DOUBLE)
    table[:, 0::2] = torch.sin(position / 10000 ** (2 * i / d))
    table[:, 1::2] = torch.cos(position / 10000 ** ((2 * i + cosine_shift) / d))
    return table


@pytest.mark.parametrize(("shift", "toeplitz"), [(0, True), (1, False)])
def test_e44_the_exponent_2i_plus_1_loses_the_shift_property(shift, toeplitz):
    table = sinusoidal(200, 64, shift)
    gram = table @ table.T
    spread = max(float(gram.diagonal(lag).max() - gram.diagonal(lag).min()) for lag in (0, 1, 5, 50))
    assert (spread < 1e-10) if toeplitz else (spread > 1)


def test_e46_odd_widths_fail_and_bfloat16_does_not_know_every_integer():
    with pytest.raises(RuntimeError):
        torch.zeros(4, 5)[:, 1::2] = torch.zeros(4, 3)
    assert float(torch.tensor(257.0).bfloat16()) == 256
    assert float(torch.tensor(259.0).bfloat16()) == 260


def rotate(x, position, base=10000.0):
    d = x.shape[-1]
    angle = position * base ** (-2 * torch.arange(d // 2, dtype=DOUBLE) / d)
    a, b = x[0::2], x[1::2]
    out = torch.empty_like(x)
    out[0::2], out[1::2] = a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()
    return out


def test_e50_rope_scores_depend_on_the_distance_alone_and_norms_stay():
    q, k = torch.randn(64, dtype=DOUBLE), torch.randn(64, dtype=DOUBLE)
    score = [float(rotate(q, m) @ rotate(k, n)) for m, n in ((10, 3), (110, 103), (1007, 1000), (10, 4))]
    assert score[0] == pytest.approx(score[1], abs=1e-9) == pytest.approx(score[2], abs=1e-9)
    assert abs(score[3] - score[0]) > 0.1
    assert float(rotate(q, 1234).norm()) == pytest.approx(float(q.norm()), abs=1e-12)


def test_e55_scaled_default_embeddings_drown_the_positions():
    table = nn.Embedding(2000, 512).weight.detach() * math.sqrt(512)
    assert float(table.std()) == pytest.approx(22.6, rel=0.02)
    assert float(sinusoidal(100, 512, 0).square().mean().sqrt()) == pytest.approx(0.7071, abs=1e-3)


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


def test_e62_attention_gradients_are_dense_and_relu_gradients_are_the_sparse_ones():
    d, f, tokens = 32, 128, 64
    wq, wk, wv, wo = (torch.nn.Parameter(torch.randn(d, d) / d**0.5) for _ in range(4))
    w1, w2 = torch.nn.Parameter(torch.randn(d, f) / d**0.5), torch.nn.Parameter(torch.randn(f, d) / f**0.5)
    x = torch.randn(tokens, d)

    def zeros(rows):
        h = x + attention(x, wq, wk, wv) @ wo
        out = h + (h @ w1).relu() @ w2
        grads = torch.autograd.grad((out[rows] * torch.randn_like(out[rows])).sum(), (wq, wk, wv, wo, w1, w2))
        return [float((g == 0).float().mean()) for g in grads]

    one, every = zeros(slice(0, 1)), zeros(slice(None))
    assert max(one[:4]) < 0.01
    assert 0.3 < one[4] < 0.7 and 0.3 < one[5] < 0.7
    assert max(every) < 0.01
