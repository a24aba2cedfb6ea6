"""Recompute the numbers behind the corrections of common errors: sizes, caches, experts, precision, optimisers."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import nn

GIB = 2**30


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


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


@pytest.mark.parametrize(("n", "ratio"), [(128, 65), (512, 261), (2048, 1087)])
def test_e71_a_cache_saves_about_half_the_length(n, ratio):
    d = 768
    without = sum(24 * t * d * d + 4 * t * t * d for t in range(1, n + 1))
    cached = sum(24 * d * d + 4 * t * d for t in range(1, n + 1))
    assert without / cached == pytest.approx(ratio, rel=0.01)


@pytest.mark.parametrize(
    ("layers", "kv_heads", "head_dim", "tokens", "gib"),
    [
        (32, 32, 128, 4096, 2.0),
        (80, 8, 128, 4096, 1.25),
        (80, 64, 128, 4096, 10),
        (32, 8, 128, 8192, 1.0),
        (80, 8, 128, 131072, 40),
        (96, 96, 128, 2048, 9.0),
    ],
)
def test_e73_the_size_of_a_kv_cache(layers, kv_heads, head_dim, tokens, gib):
    assert 2 * layers * kv_heads * head_dim * tokens * 2 / GIB == pytest.approx(gib, abs=0.005)


def test_e73_the_size_of_an_mla_cache():
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
    d, f, layers, vocab = 4096, 14336, 32, 32000
    shared = layers * (2 * d * d + 2 * d * 1024 + 8 * d) + 2 * vocab * d + layers * 2 * d + d
    expert = layers * 3 * d * f
    assert (shared + 8 * expert) / 1e9 == pytest.approx(46.70, abs=0.01)
    assert (shared + 2 * expert) / 1e9 == pytest.approx(12.88, abs=0.01)
    hit = [8 * (1 - (1 - 2 / 8) ** batch) for batch in (1, 2, 4, 8, 16)]
    assert hit == pytest.approx([2.0, 3.5, 5.5, 7.2, 7.9], abs=0.05)


def test_e95_top_1_with_renormalised_gates_gives_the_router_no_gradient():
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
    assert torch.finfo(torch.float16).tiny == pytest.approx(6.1e-5, rel=1e-2)
    assert float(torch.tensor(1e-8).half()) == 0
    assert float(torch.tensor(65519.0).half()) == 65504
    assert math.isinf(float(torch.tensor(65520.0).half()))
    assert float(torch.tensor(6e-8).half()) > 0


@pytest.mark.parametrize(("dtype", "step"), [(torch.bfloat16, 1e-3), (torch.float16, 4e-4)])
def test_e100_small_updates_vanish_in_16_bits(dtype, step):
    value = torch.ones((), dtype=dtype)
    for _ in range(1000):
        value = value + torch.tensor(step, dtype=dtype)
    assert float(value) == 1.0


def test_e102_groups_contain_an_outlier_and_do_not_undo_it():
    x = torch.randn(200, 256)
    x[:, 0] = 50.0

    def error(scale):
        return (x - (x / scale).round().clamp(-127, 127) * scale).square()

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


@pytest.mark.parametrize("g", [1e-3, 1.0, 1e3])
def test_e103_adam_moves_by_lr_whatever_the_scale_of_a_constant_gradient(g):
    assert adam_path([g] * 10)[-1] == pytest.approx(-0.1, abs=1e-5)


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_e103_pure_noise_shrinks_the_step_whatever_its_scale(scale):
    draws = torch.randn(4000) * scale
    path = adam_path(draws.tolist(), lr=1e-3)
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
    steps, lr, decay = 2000, 1e-3, 0.1
    stds = torch.tensor([10.0, 0.01])
    ends = {}
    for kind in (torch.optim.Adam, torch.optim.AdamW):
        p = nn.Parameter(torch.ones(64, 2))
        optimiser = kind([p], lr=lr, weight_decay=decay)
        for _ in range(steps):
            p.grad = torch.randn(64, 2) * stds
            optimiser.step()
        ends[kind] = p.detach().mean(0)
    large, small = (float(v) for v in ends[torch.optim.Adam])
    assert large / max(small, 1e-3) > 10
    factor = (1 - lr * decay) ** steps
    assert factor == pytest.approx(0.819, abs=1e-3)
    assert ends[torch.optim.AdamW].tolist() == pytest.approx([factor, factor], abs=0.1)


def test_e111_adam_training_takes_16_bytes_a_parameter_in_either_precision():
    assert 2 + 2 + 4 + 8 == 4 + 4 + 8 == 16
    assert 7e9 * 16 / 1e9 == 112
