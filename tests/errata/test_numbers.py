"""Recompute the numbers behind the corrections of common errors; cards that state the same are named.

With random inputs the last digits depend on the draw, so only sizes and signs are asserted.
"""

from __future__ import annotations

import itertools
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from ..bank.library_claims.conftest import drawn_float32, says

DOUBLE, GIB, INF = torch.float64, 2**30, float("inf")


@pytest.fixture(autouse=True)
def seeded(one_thread):
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
    says("att-08", "fails when a hidden logit leads by, say, 200", "若被屏蔽的 logit 领先 200")
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
    says("head-02", "83,886,080", "335,544,320", "FlopCounterMode")

    def flops(heads, width):
        x, project = torch.zeros(128, 256), torch.zeros(256, heads * width)
        with FlopCounterMode(display=False) as counter:
            q, k, v = ((x @ project).view(128, heads, width).transpose(0, 1) for _ in range(3))
            ((q @ k.mT).softmax(-1) @ v).transpose(0, 1).reshape(128, -1) @ project.T
        return counter.get_total_flops()

    assert {flops(heads, 256 // heads) for heads in (1, 8, 32)} == {83_886_080}
    assert flops(8, 128) == 335_544_320


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
    says("mask-02", "value cannot be converted to type c10::Half without overflow", "gives −inf", "得到 −inf")
    says("mask-02", "makes the *visible* scores NaN", "a bool times a float is fp32", "布尔乘浮点数得到 fp32")
    scores, visible = torch.randn(5).half(), torch.arange(5) < 3
    with pytest.raises(RuntimeError, match="value cannot be converted to type c10::Half without overflow"):
        scores.masked_fill(~visible, -1e9)
    added = scores + (~visible).half() * -1e9
    assert torch.equal(added[:3], scores[:3]) and bool((added[3:] == -INF).all())
    assert bool((scores + (~visible).half() * torch.tensor(-1e9).half())[:3].isnan().all())
    assert (scores + (~visible) * -1e9).dtype is torch.float32
    says("mask-02", "autocast makes `scores` half precision", "autocast 把 `scores` 变成半精度")
    with torch.autocast("cpu", dtype=torch.float16):
        assert (torch.randn(2, 4) @ torch.randn(4, 2)).dtype is torch.float16
    for row in (torch.randn(4).masked_fill(torch.ones(4).bool(), -1e9), torch.randn(4) - 1e9):
        assert torch.equal(row.softmax(-1), torch.full((4,), 0.25))
    says("mask-02", "from 65520 on rounds to infinity", "stored as −998,244,352", "存成 −998,244,352")
    says("mask-02", "−65504 with a score of −16 or less gives −inf", "分数不大于 −16 时得到 −inf")
    least = torch.finfo(torch.float16).min
    assert torch.tensor([65519.0, 65520.0]).half().tolist() == [65504.0, INF]
    assert (torch.tensor([-17.0, -16.0, -15.9, 15.9]).half() + least).tolist() == [-INF, -INF, -65504.0, -65504.0]
    assert (torch.full((2,), least, dtype=torch.float16) * 2).tolist() == [-INF, -INF]
    assert torch.tensor(-1e9).bfloat16().item() == -998_244_352


def test_e38_decoding_needs_no_mask_and_is_causal_with_one_query_sees_one_key():
    says(
        "dec-06", "aligns the mask top-left, so the query sees key 0 only", "按左上角对齐，query 就只看得到第 0 个 key"
    )
    says("kv-02", "the query sees key 0 only", "这个 query 只看得到 key 0")
    says("flash-08", "aligned top-left it sees only key 0")
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


def test_e44_the_exponent_2i_plus_1_loses_the_shift_property():
    says("pos-04", "from rounding (1e-5 in fp32) to 4.6", "从舍入误差（fp32 下 1e-5）变成 4.6")
    for shift, deviation, low, high in ((0, 1e-5, 5.657, 5.657), (1, 4.6, 5.3, 6.0)):
        exact, table = sinusoidal(200, 64, shift), sinusoidal(200, 64, shift).float()
        gram = exact @ exact.T
        spread = max(float(gram.diagonal(lag).max() - gram.diagonal(lag).min()) for lag in (0, 1, 5, 50))
        assert (spread > 1) if shift else (spread < 1e-10)
        lines = [(table @ table.T).diagonal(lag) for lag in range(200)]
        assert max(float((line - line.mean()).abs().max()) for line in lines) == pytest.approx(deviation, rel=0.5)
        assert table.norm(dim=1).aminmax() == pytest.approx((low, high), abs=0.05)


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


class Block(nn.Module):
    """A causal pre-norm block of width 32 with a ReLU MLP of 128."""

    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(32) for _ in range(2))
        self.attention = nn.ModuleList(nn.Linear(32, 32, bias=False) for _ in range(4))
        self.mlp = nn.ModuleList([nn.Linear(32, 128, bias=False), nn.Linear(128, 32, bias=False)])

    def forward(self, x):
        q, k, v = (p(self.norms[0](x)).view(len(x), 4, 8).transpose(0, 1) for p in self.attention[:3])
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.attention[3](mixed.transpose(0, 1).reshape(len(x), 32))
        return x + self.mlp[1](self.mlp[0](self.norms[1](x)).relu())


def test_e62_attention_gradients_are_dense_and_relu_gradients_are_the_sparse_ones():
    """One token leaves half of the MLP's gradient zero, 64 tokens nothing."""
    says("opt-21", "gave 41 to 59 % zeros", "有 41 % 到 59 % 为零")
    found = []
    for seed in range(12):
        torch.manual_seed(seed)
        block = Block()
        x, target = torch.randn(64, 32), torch.randn(64, 32)
        for first in (63, 0):
            weights = [*block.attention.parameters(), *block.mlp.parameters()]
            gradients = torch.autograd.grad((block(x) - target)[first:].square().mean(), weights)
            *dense, first_zeros, second_zeros = [float((g == 0).float().mean()) for g in gradients]
            assert dense == [0, 0, 0, 0] and first_zeros == second_zeros and (first or first_zeros == 0)
            found += [first_zeros] if first else []
    assert (round(100 * min(found)), round(100 * max(found))) == (41, 59)


def test_e01_e02_gpt3_attention_is_58_billion_a_third_of_the_model():
    d, heads, layers = 12288, 96, 96
    assert 4 * d * (d // heads) == 6_291_456
    assert 4 * d * d == 603_979_776
    attention, mlp = 4 * d * d * layers, 8 * d * d * layers
    assert attention == 57_982_058_496
    assert mlp == pytest.approx(115.96e9, rel=1e-4)
    embeddings = (50257 + 2048) * d
    assert (attention + mlp + embeddings) / 1e9 == pytest.approx(174.6, abs=0.05)
    assert attention / 175e9 == pytest.approx(0.331, abs=5e-4)


def test_e11_the_share_of_the_mlp():
    llama2 = 3 * 4096 * 11008
    assert llama2 / (llama2 + 4 * 4096**2) == pytest.approx(0.668, abs=5e-4)
    llama3, attention = 3 * 4096 * 14336, 2 * 4096**2 + 2 * 4096 * 1024
    assert llama3 / (llama3 + attention) == pytest.approx(0.808, abs=5e-4)
    mixtral = 8 * llama3
    assert mixtral / (mixtral + attention) == pytest.approx(0.971, abs=5e-4)


def test_e63_no_expert_is_left_out_by_4096_tokens():
    assert pytest.approx(3e-57, rel=0.2) == (62 / 64) ** 4096


def test_e71_a_cache_saves_about_half_the_length():
    says("kv-03", "65, 261 and 1087", "65、261、1087", "as n passes 9d", "as n passes 12d")

    def costs(n, d=768):
        without = 12 * n * (n + 1) * d**2 + 4 * d * n * (n + 1) * (2 * n + 1) / 6
        return without, 24 * n * d**2 + 2 * d * n * (n + 1)

    assert [round(a / b) for a, b in map(costs, (128, 512, 2048))] == [65, 261, 1087]
    d, steps = 768, range(1, 6)
    stepwise = sum(24 * t * d * d + 4 * t * t * d for t in steps), sum(24 * d * d + 4 * t * d for t in steps)
    assert costs(5) == stepwise
    for n, growth in ((64, (4, 2)), (10**6, (8, 4))):
        doubled = [b / a for a, b in zip(costs(n), costs(2 * n), strict=True)]
        assert doubled == pytest.approx(growth, rel=0.02)
    for n, side, middle in ((9 * 768, 0, 6), (12 * 768, 1, 3)):
        assert costs(2 * n)[side] / costs(n)[side] == pytest.approx(middle, rel=0.01)


def test_e73_the_size_of_a_kv_cache_and_of_an_mla_cache():
    for layers, kv_heads, head_dim, tokens, gib in (
        (32, 32, 128, 4096, 2.0),
        (80, 8, 128, 4096, 1.25),
        (80, 64, 128, 4096, 10),
        (32, 8, 128, 8192, 1.0),
        (80, 8, 128, 131072, 40),
        (96, 96, 128, 2048, 9.0),
    ):
        assert 2 * layers * kv_heads * head_dim * tokens * 2 / GIB == pytest.approx(gib, abs=0.005)
    assert pytest.approx(8.58, abs=0.005) == 61 * 576 * 131072 * 2 / GIB


def test_e74_absorbed_mla_costs_more_macs_and_reads_less():
    assert 192 + 128 == 320
    assert (576 + 512) / (128 + 128) == 4.25
    assert pytest.approx(56.9, abs=0.05) == 2 * 128 * 128 / 576
    assert 576 / (2 * 128) == 2.25


def test_e85_attention_flops_overtake_the_rest_beyond_6d():
    d = 4096
    assert 24 * d * d / (4 * d) == 6 * d == 24576
    assert 24 * d * d / (2 * d) == 12 * d == 49152


def test_e93_mixtral_counts_and_the_experts_that_a_batch_hits():
    says("moe-07", "46,702,792,704")
    d, f, layers, vocab = 4096, 14336, 32, 32000
    shared = layers * (2 * d * d + 2 * d * 1024 + 8 * d) + 2 * vocab * d + layers * 2 * d + d
    expert = layers * 3 * d * f
    assert shared + 8 * expert == 46_702_792_704
    assert (shared + 2 * expert) / 1e9 == pytest.approx(12.88, abs=0.01)
    hit = [8 * (1 - (1 - 2 / 8) ** batch) for batch in (1, 2, 4, 8, 16)]
    assert hit == pytest.approx([2.0, 3.5, 5.5, 7.2, 7.9], abs=0.05)


def test_e95_top_1_with_renormalised_gates_gives_the_router_no_gradient():
    says("moe-05", "w_gate.grad is zero up to rounding")

    def gradient(k, renormalise):
        torch.manual_seed(1)
        router = torch.randn(8, 4, requires_grad=True)
        x, experts = torch.randn(5, 8), torch.randn(4, 8, 8)
        p, idx = (x @ router).softmax(-1).topk(k)
        gate = p / p.sum(-1, keepdim=True) if renormalise else p
        out = sum(gate[:, j, None] * torch.einsum("nd,ndf->nf", x, experts[idx[:, j]]) for j in range(k))
        return float(torch.autograd.grad((out * torch.randn_like(out)).sum(), router)[0].abs().max())

    raw = gradient(1, False)
    assert gradient(1, True) < 1e-5 * raw
    assert min(raw, gradient(2, False), gradient(2, True)) > 0.1


def test_e96_the_balance_loss_is_alpha_at_uniform_and_n_alpha_at_collapse():
    experts, alpha = 8, 0.01

    def loss(p, fraction):
        return alpha * experts * float((p * fraction).sum())

    uniform = torch.full((experts,), 1 / experts)
    collapsed = torch.zeros(experts).index_fill(0, torch.tensor([0]), 1.0)
    assert loss(uniform, uniform) == pytest.approx(alpha)
    assert loss(collapsed, collapsed) == pytest.approx(experts * alpha)


def test_e98_the_ranges_of_bfloat16_and_float32():
    short, full = torch.finfo(torch.bfloat16), torch.finfo(torch.float32)
    assert short.tiny == full.tiny == pytest.approx(1.175e-38, rel=1e-3)
    assert short.max == pytest.approx(3.3895e38, rel=1e-4)
    assert full.max == pytest.approx(3.4028e38, rel=1e-4)
    assert short.smallest_normal * short.eps == pytest.approx(9.2e-41, rel=0.01)
    assert full.smallest_normal * full.eps == pytest.approx(1.4e-45, rel=0.01)


def test_e99_float16_underflows_at_1e_8_and_overflows_at_65520():
    says("prec-02", "**65519 becomes 65504, 65520 becomes inf**", "2049 becomes 2048")
    assert torch.finfo(torch.float16).tiny == pytest.approx(6.1e-5, rel=1e-2)
    assert float(torch.tensor(1e-8).half()) == 0
    assert torch.tensor([65519.0, 65520.0, 2049.0]).half().tolist() == [65504, math.inf, 2048]
    assert float(torch.tensor(6e-8).half()) > 0


def test_e100_small_updates_vanish_in_16_bits():
    says("prec-05", "max(1, 2 ** ceil(log2(256 * step)))")
    in_bf16 = [(torch.bfloat16, step, end) for step, end in ((0.001, 1), (0.002, 1), (0.005, 2), (0.01, 4))]
    for dtype, step, end in (*in_bf16, (torch.float16, 4e-4, 1)):
        value = torch.ones((), dtype=dtype)
        for _ in range(1000):
            value = value + torch.tensor(step, dtype=dtype)
        assert float(value) == end


def test_e102_groups_contain_an_outlier_and_do_not_undo_it():
    says("prec-13", "from about 0.007 to 0.114", "从约 0.007 升到 0.114")
    x = torch.randn(200, 256)

    def error(scale):
        return (x - (x / scale).round().clamp(-127, 127) * scale).square()

    assert float(error(x.abs().amax(-1, keepdim=True) / 127).mean().sqrt()) == pytest.approx(0.007, abs=0.0005)
    x[:, 0] = 50.0
    whole = error(x.abs().amax(-1, keepdim=True) / 127)[:, 1:].mean().sqrt()
    groups = x.view(200, 8, 32).abs().amax(-1, keepdim=True).expand(200, 8, 32).reshape(200, 256) / 127
    grouped = error(groups)
    hit, others = grouped[:, 1:32].mean().sqrt(), grouped[:, 32:].mean().sqrt()
    assert float(whole) == pytest.approx(0.114, rel=0.05)
    assert float(grouped[:, 1:].mean().sqrt()) == pytest.approx(0.040, rel=0.1)
    assert float(hit) == pytest.approx(0.114, rel=0.05)
    assert float(others) == pytest.approx(0.0054, rel=0.1)


def adam_path(gradients, lr=0.01, **options):
    p = nn.Parameter(torch.zeros(()))
    optimiser = torch.optim.Adam([p], lr=lr, **options)
    path = [0.0]
    for g in gradients:
        p.grad = torch.tensor(float(g))
        optimiser.step()
        path.append(float(p))
    return path


def test_e103_adam_moves_by_lr_whatever_the_scale_of_a_constant_gradient_and_by_less_for_noise():
    for g in (1e-3, 1.0, 1e3):
        assert adam_path([g] * 10)[-1] == pytest.approx(-0.1, abs=1e-5)
    for scale in (1.0, 0.01):
        path = adam_path((torch.randn(4000) * scale).tolist(), lr=1e-3)
        sizes = [abs(b - a) for a, b in itertools.pairwise(path)]
        assert sum(sizes) / len(sizes) / 1e-3 == pytest.approx(0.19, abs=0.03)


def test_e104_without_bias_correction_the_first_steps_are_too_large():
    m = v = 0.0
    ratios = []
    for _ in range(100):
        m, v = 0.9 * m + 0.1, 0.999 * v + 0.001
        ratios.append(m / math.sqrt(v))
    assert ratios[0] == pytest.approx(3.162, abs=1e-3)
    assert max(ratios) == pytest.approx(6.57, abs=0.01)
    assert ratios.index(max(ratios)) + 1 == 12
    assert ratios[-1] == pytest.approx(3.2, abs=0.1)


def test_e105_l2_in_the_gradient_decays_by_gradient_size_and_adamw_does_not():
    says("opt-06", "on average L2 decays the first by 2 %", "about 0.26 is left after 1000 steps and 0.02 after 2000")
    Adam, AdamW = torch.optim.Adam, torch.optim.AdamW
    for make, std, after_1000, after_2000 in (
        (Adam, 10, 0.99, 0.98),
        (Adam, 0.01, 0.26, 0.023),
        (AdamW, 10, 0.905, 0.819),
        (AdamW, 0.01, 0.905, 0.819),
    ):
        p, left = nn.Parameter(torch.ones(500)), []
        optimiser = make([p], lr=1e-3, weight_decay=0.1)
        for gradient in std * drawn_float32(0, 2000, 500):
            p.grad = gradient
            optimiser.step()
            left.append(float(p.detach().mean()))
        assert (left[999], left[-1]) == pytest.approx((after_1000, after_2000), abs=0.008)
    assert pytest.approx(0.819, abs=1e-3) == (1 - 1e-3 * 0.1) ** 2000


def test_e111_adam_training_takes_16_bytes_a_parameter_in_either_precision():
    assert 2 + 2 + 4 + 8 == 4 + 4 + 8 == 16
    assert 7e9 * 16 / 1e9 == 112
