"""Run the claims of the KV cache cards about PyTorch."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from .conftest import drawn, says
from .recorded_ops import RecordedOps


def flops(run: Callable[[], object]) -> int:
    with RecordedOps() as recorded:
        run()
    return recorded.flops


def test_kv_01_attention_over_an_empty_cache_returns_zeros() -> None:
    says("kv-01", "returns an output of zeros, without an error", "得到全零，连报错都没有")
    q, empty = drawn(0, 1, 2, 1, 8), drawn(1, 1, 2, 0, 8)
    by_hand = (q @ empty.mT).softmax(-1) @ empty
    assert by_hand.shape == q.shape and not by_hand.any()
    assert not F.scaled_dot_product_attention(q, empty, empty).any()


def test_kv_09_mha_gqa_and_mqa_cost_the_same_score_flops() -> None:
    says("kv-09", "the three numbers are equal", "三个数相等")
    heads, n, d = 8, 16, 4
    q = drawn(0, heads, n, d)

    def attention(groups: int) -> None:
        k = drawn(1, groups, n, d)
        rows = q.reshape(groups, heads // groups * n, d)
        (rows @ k.mT).softmax(-1) @ k

    assert {flops(lambda groups=groups: attention(groups)) for groups in (heads, 2, 1)} == {4 * heads * n**2 * d}


GROUPED = drawn(0, 1, 8, 3, 16), drawn(1, 1, 2, 64, 16), drawn(2, 1, 2, 64, 16)


def test_kv_10_and_kv_12_folding_copies_neither_k_nor_v_and_broadcasting_copies_both() -> None:
    says("kv-10", "rows = q.reshape(B, G, H // G * T, d)", "read in place", "原地读取")
    q, k, v = GROUPED
    with RecordedOps() as recorded:
        scores = q.reshape(1, 2, 4 * 3, 16) @ k.mT / 16**0.5
        out = (scores.softmax(-1) @ v).view(1, 8, 3, 16)
    assert recorded.sizes_of("clone") == recorded.sizes_of("copy") == []
    torch.testing.assert_close(out, F.scaled_dot_product_attention(q, k, v, enable_gqa=True))
    says("kv-10", "matmul expands the batch axes and materialises K and V", "按 query 头数把 K、V 物化出来")
    says("kv-12", "matmul clones the expanded K and V, once per query head", "按 query 头数把展开后的 K、V 复制出来")
    q, k, v = GROUPED
    with RecordedOps() as recorded:
        (q.view(1, 2, 4, 3, 16) @ k.unsqueeze(2).mT).softmax(-1) @ v.unsqueeze(2)
    assert recorded.sizes_of("clone") == [4 * k.numel(), 4 * v.numel()]


def test_kv_10_sdpa_refuses_six_query_heads_over_four_kv_heads() -> None:
    says("kv-10", "refuses 6 query heads over 4 KV heads", "拒绝 6 个 query 头配 4 个 KV 头")
    k = drawn(1, 1, 4, 3, 8)
    with pytest.raises(RuntimeError, match="must divide the number of heads"):
        F.scaled_dot_product_attention(drawn(0, 1, 6, 3, 8), k, k, enable_gqa=True)


def test_kv_12_only_the_math_fallback_repeats_k_and_v() -> None:
    says("kv-12", "the math fallback repeats K and V", "math 后端仍会复制 K、V")
    q, k, v = GROUPED
    for backend, copies in ((SDPBackend.MATH, 2), (SDPBackend.FLASH_ATTENTION, 0)):
        with sdpa_kernel(backend), RecordedOps() as recorded:
            F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
        assert recorded.sizes_of("clone") == [4 * k.numel()] * copies


def test_kv_12_repeat_and_repeat_interleave_meet_other_heads() -> None:
    says("kv-12", "0 1 0 1 0 1 0 1", "0 0 0 0 1 1 1 1", "8 of 64 for G = 8, but 8 of 28 for G = 4")

    def order(heads: int, groups: int) -> list[list[int]]:
        numbers = torch.arange(groups)
        return [x.tolist() for x in (numbers.repeat(heads // groups), numbers.repeat_interleave(heads // groups))]

    def agreeing(heads: int, groups: int) -> int:
        return sum(a == b for a, b in zip(*order(heads, groups), strict=True))

    assert order(8, 2) == [[0, 1] * 4, [0] * 4 + [1] * 4]
    assert [agreeing(8, 2), agreeing(64, 8), agreeing(28, 4)] == [4, 8, 8]
    assert agreeing(8, 1) == agreeing(8, 8) == 8
    says("kv-12", "Fill the values of KV head g with the number g", "把第 g 个 KV 头的 value 全填成数字 g")
    v = torch.arange(2, dtype=torch.float64).view(1, 2, 1, 1).expand(1, 2, 5, 4)
    out = F.scaled_dot_product_attention(drawn(0, 1, 8, 1, 4), drawn(1, 1, 2, 5, 4), v, enable_gqa=True)
    assert [round(x, 9) for x in out[0, :, 0, 0].tolist()] == [0] * 4 + [1] * 4


def latent_attention(dtype: torch.dtype, keys: int = 20, queries: int = 3) -> tuple[Tensor, Tensor]:
    """Return MLA with two heads of DeepSeek-V3's widths: with expanded keys and values, and absorbed."""
    shapes = ((keys, 512), (keys, 64), (2, queries, 128), (2, queries, 64), (2, 128, 512), (2, 128, 512))
    latent, k_rope, q, q_rope, up_k, up_v = (drawn(seed, *shape).to(dtype) for seed, shape in enumerate(shapes))
    k = torch.cat([latent @ up_k.mT / 512**0.5, k_rope.expand(2, keys, 64)], -1)
    expanded = (torch.cat([q, q_rope], -1) @ k.mT / 192**0.5).softmax(-1) @ (latent @ up_v.mT)
    absorbed_q = torch.cat([q @ up_k / 512**0.5, q_rope], -1)
    absorbed = (absorbed_q @ torch.cat([latent, k_rope], -1).T / 192**0.5).softmax(-1) @ latent @ up_v.mT
    return expanded, absorbed


def test_kv_13_and_kv_14_the_absorbed_form_agrees_in_fp64_and_not_in_bf16() -> None:
    for card in ("kv-13", "kv-14"):
        says(card, "agree to about 1e-12", "1e-12")
    torch.testing.assert_close(*latent_attention(torch.float64), rtol=0, atol=1e-12)
    assert (torch.sub(*latent_attention(torch.bfloat16))).abs().max() > 1e-3


def test_kv_16_a_flop_counter_gives_320_and_1088_multiply_adds_a_pair() -> None:
    says("kv-16", "1,088", "Run one query of one head over 100 and over 200 keys")

    def cost(width: int, value_width: int, keys: int) -> int:
        q, k, v = torch.zeros(1, width), torch.zeros(keys, width), torch.zeros(keys, value_width)
        return flops(lambda: (q @ k.T).softmax(-1) @ v)

    says("kv-16", "if the expansion is counted, 320 becomes 131,392", "320 会变成 131,392")
    pairs = [(cost(*widths, 200) - cost(*widths, 100)) / 100 / 2 for widths in ((128, 128), (192, 128), (576, 512))]
    assert pairs == [256, 320, 1088]
    expansions = [flops(lambda keys=keys: torch.zeros(keys, 512) @ torch.zeros(512, 256)) for keys in (100, 200)]
    assert pairs[1] + (expansions[1] - expansions[0]) / 100 / 2 == 131_392


def rope(x: Tensor, positions: Tensor) -> Tensor:
    angles = positions[:, None] * 100 ** (-torch.arange(0, x.size(-1), 2, dtype=torch.float64) / x.size(-1))
    even, odd = x[..., ::2], x[..., 1::2]
    turned = even * angles.cos() - odd * angles.sin(), even * angles.sin() + odd * angles.cos()
    return torch.stack(turned, -1).flatten(-2)


def test_kv_21_a_decode_step_needs_its_position_but_a_common_shift_changes_nothing() -> None:
    says("kv-21", "pos = torch.arange(q.size(2))", 'pos = torch.arange(q.size(2)) + cache["k"].size(2)')
    for counted in (True, False):
        q, k, v = (drawn(seed, 1, 2, 6, 8) for seed in range(3))
        places = torch.arange(6)
        full = F.scaled_dot_product_attention(rope(q, places), rope(k, places), v, is_causal=True)
        place = torch.arange(1) + (5 if counted else 0)
        keys = torch.cat([rope(k[:, :, :5], places[:5]), rope(k[:, :, 5:], place)], dim=2)
        step = F.scaled_dot_product_attention(rope(q[:, :, 5:], place), keys, v)
        assert torch.allclose(step, full[:, :, 5:]) is counted
    says("kv-21", "a common shift leaves every distance as it is", "整体平移不改变任何距离")
    q, k = drawn(0, 1, 2, 6, 8), drawn(1, 1, 2, 6, 8)
    scores = [rope(q, torch.arange(6) + shift) @ rope(k, torch.arange(6) + shift).mT for shift in (0, 7)]
    torch.testing.assert_close(*scores)
