"""Run the claims of the cards on heads and shapes about PyTorch."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .conftest import drawn, says
from .recorded_ops import RecordedOps

B, HEADS, T, WIDTH = 2, 3, 5, 4
D = HEADS * WIDTH


def one_head(q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


def heads_by_loop(q: Tensor, k: Tensor, v: Tensor, heads: int) -> Tensor:
    """Return attention of (B, T, D) projections, computed head by head and concatenated."""
    return torch.cat([one_head(*parts) for parts in zip(*(z.chunk(heads, -1) for z in (q, k, v)), strict=True)], -1)


def test_head_03_concatenation_times_w_o_is_a_sum_over_heads() -> None:
    says("head-03", "removes exactly head h", "恰好去掉第 h 个头", "they must add up to the layer's output")
    outputs, w_o = drawn(0, HEADS, T, WIDTH), drawn(1, D, D)
    whole = torch.cat(list(outputs), -1) @ w_o
    parts = [outputs[h] @ w_o[h * WIDTH : (h + 1) * WIDTH] for h in range(HEADS)]
    torch.testing.assert_close(whole, sum(parts))
    w_o[WIDTH : 2 * WIDTH] = 0
    torch.testing.assert_close(torch.cat(list(outputs), -1) @ w_o, parts[0] + parts[2])


def test_head_03_with_w_o_at_zero_only_w_o_gets_a_gradient() -> None:
    says("head-03", "W_O alone of the four matrices gets a gradient", "第一步这四个矩阵里只有 W_O 收到梯度")
    attention = nn.MultiheadAttention(D, HEADS, bias=False, batch_first=True, dtype=torch.float64)
    nn.init.zeros_(attention.out_proj.weight)
    x = drawn(0, B, T, D)
    loss = (x + attention(x, x, x)[0]).square().sum()
    into, out = torch.autograd.grad(loss, (attention.in_proj_weight, attention.out_proj.weight))
    assert not into.any() and out.any()


def test_head_04_a_sliced_projection_is_block_diagonal_with_equal_blocks() -> None:
    says("head-04", "The other h² − h blocks, a share 1 − 1/h", "其余 h² − h 块占矩阵的 1 − 1/h")
    small, x = drawn(0, WIDTH, WIDTH), drawn(1, B, T, D)
    sliced = (x.unflatten(-1, (HEADS, WIDTH)) @ small).flatten(-2)
    whole = torch.block_diag(*[small] * HEADS)
    torch.testing.assert_close(sliced, x @ whole)
    assert float((whole == 0).double().mean()) == pytest.approx(1 - 1 / HEADS)


def test_head_05_a_model_on_the_meta_device_has_shapes_and_no_storage() -> None:
    says("head-05", "PyTorch's meta device", "57,982,058,496")
    layers = [nn.MultiheadAttention(12288, 96, bias=False, device="meta") for _ in range(96)]
    weights = [weight for layer in layers for weight in layer.parameters()]
    assert all(weight.is_meta for weight in weights)
    assert sum(weight.numel() for weight in weights) == 57_982_058_496


def test_head_09_transposes_change_strides_only_and_share_memory() -> None:
    says("head-09", "(1, 4, 12)", "(1, 12, 4)", "does nothing if the data are row-major already")
    says("head-09", "contiguous 什么也不做")
    x = torch.arange(24).view(2, 3, 4)
    assert (x.transpose(0, 2).stride(), x.permute(2, 0, 1).stride()) == ((1, 4, 12), (1, 12, 4))
    assert x.permute(2, 0, 1).data_ptr() == x.data_ptr()
    assert x.contiguous().data_ptr() == x.data_ptr()
    assert x.transpose(1, 2).contiguous().data_ptr() != x.data_ptr()
    says("head-09", "w[0, 1] = 99 set z[1, 0] to 99", "z[1, 0] 就成了 99")
    z = torch.zeros(2, 3)
    z.t()[0, 1] = 99
    assert z[1, 0] == 99


def test_head_09_merging_copies_as_soon_as_h_and_t_exceed_1() -> None:
    says("head-09", "another pointer as soon as h and T exceed 1", "只要 h 和 T 都大于 1，指针就会变")
    for heads, tokens, copies in ((3, 5, True), (1, 5, False), (3, 1, False)):
        x = drawn(0, B, heads, tokens, WIDTH)
        merged = x.transpose(1, 2).reshape(B, tokens, heads * WIDTH)
        assert (merged.data_ptr() != x.data_ptr()) is copies


def test_head_10_view_after_transpose_raises_unless_there_is_one_token() -> None:
    says("head-10", "view size is not compatible with input tensor's size and stride", "Use .reshape(...) instead")
    x = drawn(0, B, HEADS, T, WIDTH).transpose(1, 2)
    assert (x.stride(-2), x.stride(-3)) == (T * WIDTH, WIDTH)
    with pytest.raises(RuntimeError, match=r"view size is not compatible .* Use \.reshape\(\.\.\.\) instead"):
        x.view(B, T, D)
    assert drawn(0, B, HEADS, 1, WIDTH).transpose(1, 2).view(B, 1, D).shape == (B, 1, D)


def seen_by(rows: Callable[[Tensor], Tensor], tokens: int, width: int) -> list[set[int]]:
    """Return for each output position the input tokens with a nonzero gradient."""
    x = drawn(0, 1, tokens, width).requires_grad_()
    found = []
    for position in range(tokens):
        (grad,) = torch.autograd.grad(rows(x)[0, position].sum(), x)
        found.append({token for token in range(tokens) if grad[0, token].any()})
    return found


def attend(x: Tensor, heads: int, split: bool, merge: bool) -> Tensor:
    """Run head-11's code with or without the transposes, on fixed projections of x."""
    b, t, d = x.shape
    q, k, v = (x @ drawn(seed, d, d) for seed in (1, 2, 3))
    if split:
        q, k, v = (z.view(b, t, heads, d // heads).transpose(1, 2) for z in (q, k, v))
    else:
        q, k, v = (z.view(b, heads, t, d // heads) for z in (q, k, v))
    y = one_head(q, k, v, causal=True)
    return (y.transpose(1, 2) if merge else y).reshape(b, t, d)


def test_head_11_what_leaks_without_one_or_both_transposes() -> None:
    says("head-11", "position 0 then depends on tokens 0 and 2", "位置 0 的输出依赖 token 0 和 2")
    seen = seen_by(lambda x: attend(x, 2, split=False, merge=True), 4, 8)
    assert seen[0] == {0, 2}
    assert 1 not in seen[1]
    assert seen_by(lambda x: attend(x, 2, split=True, merge=True), 4, 8) == [{0}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3}]
    says("head-11", "Then the leak is gone", "泄漏就消失了")
    seen = seen_by(lambda x: attend(x, 2, split=False, merge=False), 4, 8)
    assert all(max(tokens) <= position for position, tokens in enumerate(seen))
    assert 0 not in seen[3]


def test_head_12_xavier_depends_on_the_fused_shape_and_kaiming_does_not() -> None:
    says("head-12", "ratio 0.707", "比值 0.707")
    apart, fused = torch.empty(256, 256), torch.empty(3 * 256, 256)

    def ratio(initialise: Callable[[Tensor], Tensor]) -> float:
        torch.manual_seed(0)
        return float(initialise(fused).abs().max() / initialise(apart).abs().max())

    assert ratio(nn.init.xavier_uniform_) == pytest.approx(0.707, abs=0.001)
    assert ratio(nn.init.kaiming_uniform_) == pytest.approx(1, abs=0.001)


def test_head_12_a_split_is_a_view_that_some_views_reject() -> None:
    says("head-12", "`q.view(B, T, h, dk)` still works, `q.view(B, -1)` does not", "`q.view(B, -1)` 会报错")
    fused = torch.empty(2, 3, 6144)
    q, k, _ = fused.split([4096, 1024, 1024], dim=-1)
    assert q.data_ptr() == fused.data_ptr() and k.stride(1) == 6144
    assert q.view(2, 3, 32, 128).shape == (2, 3, 32, 128)
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        q.view(2, -1)
    assert [part.size(-1) for part in fused.chunk(3, dim=-1)] == [2048] * 3


def turns(angles: Tensor) -> Tensor:
    return torch.stack((angles.cos(), -angles.sin(), angles.sin(), angles.cos()), -1).view(-1, 2, 2)


def test_head_12_exchanging_q_and_k_transposes_the_scores_with_rope_too() -> None:
    says("head-12", "it only transposes the scores before the mask", "只是把加掩码之前的分数矩阵转置")
    turn = turns(torch.arange(T, dtype=torch.float64))
    q, k = ((turn @ drawn(seed, T, 2, 1)).squeeze(-1) for seed in (0, 1))
    torch.testing.assert_close(k @ q.T, (q @ k.T).T)


def multihead_operations(need_weights: bool, sources: int) -> RecordedOps:
    attention = nn.MultiheadAttention(16, 4, batch_first=True)
    x = torch.randn(2, 5, 16)
    k, v = (x, x) if sources == 1 else (x.clone(), x.clone())
    with RecordedOps() as recorded:
        attention(x, k, v, need_weights=need_weights)
    return recorded


def test_head_13_nn_multiheadattention_stores_weights_if_asked_and_fuses_one_tensors_projection() -> None:
    says("head-13", "forces the slow path that stores the T × T matrix", "会走存下 T × T 矩阵的慢路径")
    assert multihead_operations(True, 1).sizes_of("softmax") == [2 * 4 * 5 * 5]
    fused = multihead_operations(False, 1)
    assert fused.sizes_of("softmax") == [] and fused.sizes_of("scaled_dot_product") != []
    says("head-13", "called with one tensor three times it does fuse the projection", "它的投影其实也是融合的")
    assert multihead_operations(False, 1).sizes_of("aten.mm") == [2 * 5 * 3 * 16]
    assert multihead_operations(False, 3).sizes_of("aten.mm") == [2 * 5 * 16] * 3


def test_head_15_softmax_raises_the_rank() -> None:
    says("head-15", "the scores have rank 8 and the softmax of them rank 64", "分数的秩是 8，softmax 之后秩是 64")
    for seed in range(5):
        scores = drawn(2 * seed, 64, 8) @ drawn(2 * seed + 1, 8, 64)
        ranks = [int(torch.linalg.matrix_rank(x)) for x in (scores, (scores / 8**0.5).softmax(-1))]
        assert ranks == [8, 64]


def test_head_01_heads_of_width_1_peak_at_two_keys_and_of_width_2_anywhere() -> None:
    says("head-01", "each unmasked row peaks at one of the same two tokens", "只落在同样的两个 token 之一")
    says("head-15", "from two dimensions up", "只要不小于 2")
    peaks = (drawn(0, 64, 1) @ drawn(1, 1, 32)).argmax(-1)
    assert len(set(peaks.tolist())) == 2
    angles = torch.arange(32, dtype=torch.float64)
    circle = torch.stack((angles.cos(), angles.sin()), -1)
    assert (circle @ circle.T).argmax(-1).tolist() == list(range(32))


def test_head_17_the_key_bias_has_a_gradient_only_with_rope() -> None:
    says("head-17", "the gradient of b_K is 0 up to rounding", "b_K 的梯度为 0，只剩舍入误差")
    says("head-17", "the fourth on nothing else", "第 4 项只取决于距离")
    bias = drawn(0, 2).requires_grad_()
    for rotated in (False, True):
        turn = turns(torch.arange(T, dtype=torch.float64) * rotated)
        q, k = drawn(1, T, 2, 1), drawn(2, T, 2, 1) + bias.view(2, 1)
        scores = (turn @ q).squeeze(-1) @ (turn @ k).squeeze(-1).T
        (gradient,) = torch.autograd.grad((scores.softmax(-1) @ drawn(3, T, 2)).square().sum(), bias)
        assert (gradient.abs().max() > 1e-3) if rotated else (gradient.abs().max() < 1e-12)


def test_head_18_without_both_transposes_tokens_stay_apart() -> None:
    says("head-18", "no information passes between tokens at all", "token 之间完全没有信息传递")

    def over_heads(x: Tensor) -> Tensor:
        q, k, v = ((x @ drawn(seed, D, D)).view(1, T, HEADS, WIDTH) for seed in (1, 2, 3))
        return one_head(q, k, v).reshape(1, T, D)

    assert seen_by(over_heads, T, D) == [{token} for token in range(T)]


def test_head_18_the_chain_agrees_with_a_loop_over_heads() -> None:
    says("head-18", "only rounding may differ", "结果只应差舍入误差")
    q, k, v = (drawn(seed, B, T, D) for seed in range(3))
    split = [z.view(B, T, HEADS, WIDTH).transpose(1, 2) for z in (q, k, v)]
    torch.testing.assert_close(one_head(*split).transpose(1, 2).reshape(B, T, D), heads_by_loop(q, k, v, HEADS))


def test_head_20_a_merged_w_v_w_o_agrees_and_has_rank_d_v() -> None:
    says("head-20", "at most d_v singular values above it", "奇异值至多 d_v 个")
    weights, x = drawn(0, T, T).softmax(-1), drawn(1, T, D)
    w_v, w_o = drawn(2, D, WIDTH), drawn(3, WIDTH, D)
    torch.testing.assert_close(weights @ (x @ w_v) @ w_o, weights @ x @ (w_v @ w_o))
    assert int(torch.linalg.matrix_rank(w_v @ w_o)) == WIDTH
