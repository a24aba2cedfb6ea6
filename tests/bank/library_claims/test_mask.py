"""Run the claims of the mask cards about torch."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention.bias import causal_lower_right

from .conftest import says

INF = float("inf")


def triangle(queries: int, keys: int, diagonal: int = 0) -> Tensor:
    return torch.ones(queries, keys, dtype=torch.bool).tril(diagonal)


def test_mask_01_a_mask_after_softmax_and_a_finite_handicap_depend_on_the_hidden_key() -> None:
    says("mask-01", "drive the hidden score to 20,000", "with a hidden score of 9,000 −1e4 still passes")
    says("mask-01", "推到 20,000 的值", "只推到 9,000")
    q, k, v, visible = torch.rand(4, 8), torch.rand(6, 8), torch.randn(6, 8), torch.arange(6) != 2
    outputs = {
        "filled": lambda k, v: (q @ k.T).masked_fill(~visible, -INF).softmax(-1) @ v,
        "−1e4": lambda k, v: (q @ k.T - 1e4 * ~visible).softmax(-1) @ v,
        "after": lambda k, v: ((q @ k.T).softmax(-1) * visible) @ v,
    }
    for score, unchanged in ((20_000.0, {"filled"}), (9_000.0, {"filled", "−1e4"})):
        changed_k, changed_v = k.clone(), v.clone()
        changed_k[2], changed_v[2] = torch.linalg.pinv(q) @ torch.full((4,), score), 1e6
        same = {name for name, output in outputs.items() if torch.equal(output(k, v), output(changed_k, changed_v))}
        assert same == unchanged


def test_mask_03_which_fill_is_exact_and_what_an_added_one_leaves() -> None:
    says("mask-03", "lets scores from 16 on survive and turns those of −16 or less into −inf")
    says("mask-03", "只吞得掉 −16 到 16 之间的分数")
    least = torch.finfo(torch.float16).min
    scores = torch.tensor([-16.0, -15.9, 0.0, 15.9, 16.0]).half()
    assert (scores + least).tolist() == [-INF, -65504, -65504, -65504, -65472]
    assert scores.masked_fill(scores < 99, least).float().softmax(-1).tolist() == pytest.approx([0.2] * 5)
    says("mask-03", "`torch.equal` of the two softmax results holds", "added in fp32: softmax of the hidden scores")
    says("mask-03", "`torch.equal` 成立", "fp32 下相加：仍是原分数的 softmax")
    scores, visible = torch.randn(50, 16), torch.rand(50, 16) > 0.5
    visible[:, 0] = True
    for dtype in (torch.float32, torch.float64):
        typed = scores.to(dtype)
        filled = typed.masked_fill(~visible, -INF).softmax(-1)
        assert torch.equal(typed.masked_fill(~visible, -1e9).softmax(-1), filled)
    hidden = torch.tensor([0.0, 1.0, 2.0, 3.0])
    assert torch.allclose((hidden - 1e4).softmax(-1), hidden.softmax(-1), atol=1e-3)
    assert hidden.masked_fill(hidden > -1, -1e4).softmax(-1).tolist() == [0.25] * 4
    says("mask-03", "near −104 and −745", "约 −104、−745")
    assert torch.tensor([-103.0, -104.5]).exp().sign().tolist() == [1, 0]
    assert torch.tensor([-745.0, -746.0], dtype=torch.float64).exp().sign().tolist() == [1, 0]


def gradients_are_finite(output: Tensor, *inputs: Tensor) -> list[bool]:
    return [bool(gradient.isfinite().all()) for gradient in torch.autograd.grad(output, inputs, retain_graph=True)]


def test_mask_04_which_repairs_of_an_empty_row_save_the_gradients() -> None:
    says("mask-04", "is repaired only if the mask was *filled*", "NaN flows back to q and k", "NaN 会流回 q、k")
    says("mask-04", "returns 0 with finite gradients in release 2.13 on CPU", "返回 0 且梯度有限")
    q, k, v = (torch.randn(2, 1, 3, 4, requires_grad=True) for _ in range(3))
    visible = torch.tensor([True, False]).view(2, 1, 1, 1).expand(2, 1, 1, 3)
    empty = ~visible.any(-1, keepdim=True)
    scores = q @ k.mT / 2
    filled = scores.masked_fill(~visible, -INF).softmax(-1)
    added = (scores + torch.zeros(2, 1, 1, 3).masked_fill(~visible, -INF)).softmax(-1)
    fixed = scores.masked_fill(~visible & ~empty, -INF).softmax(-1).masked_fill(empty, 0.0)
    assert gradients_are_finite((filled @ v)[0].sum(), q, k, v) == [True, True, False]
    assert gradients_are_finite((filled.nan_to_num(0.0) @ v).sum(), q, k, v) == [True, True, True]
    assert gradients_are_finite((added.nan_to_num(0.0) @ v).sum(), q, k, v) == [False, False, True]
    assert gradients_are_finite((fixed @ v).sum(), q, k, v) == [True, True, True]
    fused = F.scaled_dot_product_attention(q, k, v, attn_mask=visible)
    assert bool((fused[1] == 0).all()) and gradients_are_finite(fused.sum(), q, k, v) == [True, True, True]


def test_mask_05_added_minus_1e9_rounds_scores_to_multiples_of_64() -> None:
    says("mask-05", "become −1e9 + (0, 0, 64, 128)", "变成 −1e9 + (0, 0, 64, 128)")
    sums = torch.tensor([0.0, 20.0, 40.0, 100.0]) - 1e9
    assert (sums + 1e9).tolist() == [0, 0, 64, 128] and sums.softmax(-1)[-1].item() == pytest.approx(1.0)
    assert torch.zeros(4).masked_fill(torch.ones(4) > 0, -1e9).softmax(-1).tolist() == [0.25] * 4


def test_mask_06_an_sdpa_mask_in_multihead_attention_is_inverted() -> None:
    says("mask-06", "is NaN by default (release 2.13)", "it is 0 in training", "默认得 NaN（2.13 版）", "这一行是 0")
    attention, x = nn.MultiheadAttention(8, 2, batch_first=True, bias=False), torch.randn(1, 4, 8)
    changed = x.clone()
    changed[:, 0] += 1
    for need_weights, last_is_nan in ((True, True), (False, False)):
        out = attention(x, x, x, attn_mask=triangle(4, 4), need_weights=need_weights)[0]
        moved = attention(changed, changed, changed, attn_mask=triangle(4, 4), need_weights=need_weights)[0]
        assert torch.equal(out[:, 1:3], moved[:, 1:3]) and bool(out[0, 3].isnan().all()) is last_is_nan
    assert bool((out[0, 3] == 0).all())


def test_mask_08_is_causal_is_aligned_top_left() -> None:
    says("mask-08", "1, 2, 3 and 4 keys, the oldest ones", "causal_lower_right(T, S)", "看到 0、0、1、2、3 个")
    q, k, v = torch.randn(1, 4, 8), torch.randn(1, 10, 8), torch.randn(1, 10, 8)
    seen = F.scaled_dot_product_attention(q, k, torch.eye(10)[None], is_causal=True)[0] > 0
    assert torch.equal(seen, triangle(4, 10))
    lower = causal_lower_right(4, 10)
    explicit = F.scaled_dot_product_attention(q, k, v, attn_mask=triangle(4, 10, 6))
    assert torch.allclose(F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=lower)[0], explicit)
    assert torch.allclose(F.scaled_dot_product_attention(q[:, :1], k, v, is_causal=True), v[:, :1])
    assert triangle(5, 3, 3 - 5).sum(-1).tolist() == [0, 0, 1, 2, 3]


def test_mask_09_view_instead_of_transpose_in_the_head_split_leaks() -> None:
    says("mask-09", "view instead of transpose in the head split", "切头时用 view 代替转置")
    x = torch.randn(8, 16, dtype=torch.float64)
    changed = x.clone()
    changed[-1] += 1

    def attend(x: Tensor, faulty: bool) -> Tensor:
        heads = x.view(2, 8, 8) if faulty else x.view(8, 2, 8).transpose(0, 1)
        weights = (heads @ heads.mT).masked_fill(~triangle(8, 8), -INF).softmax(-1)
        return (weights @ heads).transpose(0, 1).reshape(8, 16)

    assert not torch.equal(attend(changed, True)[:-1], attend(x, True)[:-1])
    assert torch.equal(attend(changed, False)[:-1], attend(x, False)[:-1])


def test_mask_12_renormalising_after_dropout_would_bias_uneven_rows() -> None:
    says("mask-12", "that would bias uneven rows", "权重不均的行期望有偏")
    says("mask-12", "standard deviation of 0.033", "标准差 0.033")
    row, kept = torch.tensor([0.7, 0.2, 0.1]), torch.cartesian_prod(*[torch.tensor([0.0, 1.0])] * 3)
    chance = torch.where(kept > 0, 0.9, 0.1).prod(-1, keepdim=True)
    assert torch.allclose((chance * kept * row / 0.9).sum(0), row)
    renormalised = (chance * kept * row / (kept * row).sum(-1, keepdim=True).clamp(min=1e-9)).sum(0)
    assert renormalised.tolist() == pytest.approx([0.653, 0.227, 0.119], abs=1e-3)
    assert F.dropout(torch.full((4000, 100), 0.01), 0.1).sum(-1).std().item() == pytest.approx(0.0333, abs=0.002)


def test_mask_14_a_decoder_with_a_memory_mask_does_not_read_the_padding() -> None:
    says("mask-14", "`memory_key_padding_mask`, shape (B, S_src), True meaning hidden", "True 表示屏蔽")
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0, batch_first=True), 1).eval()
    target, memory, hidden = torch.randn(1, 3, 8), torch.randn(1, 5, 8), torch.arange(5)[None] > 2
    other = memory.masked_fill(hidden[..., None], 1e3)
    out, moved = (decoder(target, m, memory_key_padding_mask=hidden) for m in (memory, other))
    assert torch.equal(out, moved) and not torch.equal(decoder(target, memory), decoder(target, other))


def test_mask_16_the_diagonal_of_future_keys_with_a_cache() -> None:
    says("mask-16", "With a cache (T queries, S keys) the diagonal is 1 + S − T", "应是 1 + S − T")
    for queries, keys in ((4, 10), (1, 7), (5, 5)):
        future = torch.ones(queries, keys, dtype=torch.bool).triu(1 + keys - queries)
        assert torch.equal(~future, triangle(queries, keys, keys - queries))
    rows = torch.zeros(3, 3).masked_fill(torch.ones(3, 3, dtype=torch.bool).triu(0), -INF).softmax(-1)
    assert bool(rows[0].isnan().all()) and rows[1:].tolist() == [[1, 0, 0], [0.5, 0.5, 0]]


def test_mask_17_the_slice_of_a_mask_buffer() -> None:
    says("mask-17", "`mask[:T, :S]` takes the top-left corner", "`mask[S - T:S, :S]`", "取的是左上角")
    buffer = triangle(16, 16)
    assert buffer[:2, :8].sum(-1).tolist() == [1, 2] and buffer[6:8, :8].sum(-1).tolist() == [7, 8]
    assert torch.empty(1, dtype=torch.bool).element_size() * 32_768**2 == 2**30
