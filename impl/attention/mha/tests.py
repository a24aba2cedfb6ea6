"""An oracle in float64, one head at a time, and what must hold for any mask: a hidden key has no influence."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(x_q, x_kv, wq, wk, wv, wo, n_heads, mask=None):
    """Return the result and the weights (B, H, T, S)."""
    x_q, x_kv, wq, wk, wv, wo = (t.double() for t in (x_q, x_kv, wq, wk, wv, wo))
    B, T, D = x_q.shape
    d, S = D // n_heads, x_kv.shape[1]
    visible = torch.ones(B, n_heads, T, S, dtype=torch.bool) if mask is None else mask.expand(B, n_heads, T, S)
    outputs, weights = [], []
    for h in range(n_heads):
        head = slice(h * d, (h + 1) * d)
        scores = x_q @ wq[:, head] @ (x_kv @ wk[:, head]).mT / math.sqrt(d)
        empty = ~visible[:, h].any(-1, keepdim=True)
        scores = scores.masked_fill(~visible[:, h] & ~empty, -math.inf)
        weights.append(scores.softmax(-1).masked_fill(empty, 0.0))
        outputs.append(weights[-1] @ (x_kv @ wv[:, head]))
    return torch.cat(outputs, -1) @ wo, torch.stack(weights, 1)


def inputs(B=2, T=3, S=5, D=8, dtype=torch.float32):
    tokens = [torch.randn(B, T, D), torch.randn(B, S, D)]
    return [t.to(dtype) for t in tokens + [torch.randn(D, D) / math.sqrt(D) for _ in range(4)]]


def masks(B=2, H=2, T=3, S=5):
    """Return masks of every kind of shape; the first query may attend to nothing where queries have their own rows."""
    shapes = [(T, S), (1, S), (B, H, T, S), (B, 1, 1, S), (1, H, T, 1), (B, 1, T, S)]
    drawn = [torch.rand(shape) < 0.6 for shape in shapes]
    for mask in drawn:
        if mask.shape[-2] > 1:
            mask[..., 0, :] = False
    return drawn


def assert_right(function, arguments, n_heads, mask=None, rtol=1e-4, atol=1e-5):
    exact = expected(*arguments, n_heads, mask)
    for actual, right in zip(function(*arguments, n_heads, mask, return_weights=True), exact, strict=True):
        assert actual.dtype == arguments[0].dtype and actual.shape == right.shape
        assert_close(actual.double(), right, rtol=rtol, atol=atol)
    assert_close(function(*arguments, n_heads, mask).double(), exact[0], rtol=rtol, atol=atol)


@given(*[st.integers(1, 4)] * 5)
def test_any_sizes(multi_head_attention, B, T, S, H, d):
    arguments = inputs(B, T, S, H * d)
    assert_right(multi_head_attention, arguments, H)
    assert_right(multi_head_attention, arguments, H, torch.rand(B, H, T, S) < 0.5)


def test_any_shape_of_mask(multi_head_attention):
    arguments = inputs()
    for mask in masks():
        assert_right(multi_head_attention, arguments, 2, mask)


def test_self_attention(multi_head_attention):
    x, _, *weights = inputs(T=6, D=24)
    for H in (1, 3, 8, 24):
        assert_right(multi_head_attention, [x, x, *weights], H, torch.ones(6, 6, dtype=torch.bool).tril())


def test_a_hidden_key_has_no_influence(multi_head_attention):
    x_q, x_kv, *weights = inputs()
    mask = torch.tensor([True, True, False, True, True]).expand(3, 5)
    changed = x_kv.clone()
    changed[:, 2] = 1e4
    assert_close(
        multi_head_attention(x_q, changed, *weights, 2, mask), multi_head_attention(x_q, x_kv, *weights, 2, mask)
    )


def test_a_query_without_a_key_gives_zeros_with_zero_gradients(multi_head_attention):
    leaves = [t.requires_grad_() for t in inputs()]
    mask = torch.tensor([True, False, True])[:, None].expand(3, 5)
    out, weights = multi_head_attention(*leaves, 2, mask, return_weights=True)
    assert torch.equal(out[:, 1], torch.zeros(2, 8)) and torch.equal(weights[:, :, 1], torch.zeros(2, 2, 5))
    for slope in torch.autograd.grad(
        out[:, 1].sum() + weights[:, :, 1].sum(), leaves, retain_graph=True, materialize_grads=True
    ):
        assert torch.equal(slope, torch.zeros_like(slope))
    (slope,) = torch.autograd.grad(out.sum(), leaves[:1])
    assert slope.isfinite().all() and torch.equal(slope[:, 1], torch.zeros(2, 8))


def test_weights_of_a_query_sum_to_one(multi_head_attention):
    _, weights = multi_head_attention(*inputs(), 2, return_weights=True)
    assert_close(weights.sum(-1), torch.ones(2, 2, 3))


def test_large_scores_are_stable(multi_head_attention):
    for size in (30.0, 1e3):
        arguments = inputs(T=6, S=6)
        arguments[2] = size * arguments[2]
        for mask in (None, torch.ones(6, 6, dtype=torch.bool).tril()):
            assert_right(multi_head_attention, arguments, 2, mask, 1e-3, 1e-3)


def test_a_hidden_score_of_30000_stays_hidden_behind_minus_30000(multi_head_attention):
    one = torch.ones(1, 1)
    x_q, x_kv = torch.full((1, 2, 1), 300.0), torch.tensor([-100.0, 100.0, -100.001]).reshape(1, 3, 1)
    assert_right(multi_head_attention, [x_q, x_kv, *[one] * 4], 1, torch.tensor([[True, False, True]]), 1e-3, 1e-3)


def test_gradients_are_those_of_the_oracle(multi_head_attention):
    leaves = [t.requires_grad_() for t in inputs(dtype=torch.float64)]
    ups = [torch.randn(2, 3, 8, dtype=torch.float64), torch.randn(2, 2, 3, 5, dtype=torch.float64)]
    for mask in (None, *masks()):
        actual = torch.autograd.grad(multi_head_attention(*leaves, 2, mask, True), leaves, ups)
        assert_close(actual, torch.autograd.grad(expected(*leaves, 2, mask), leaves, ups))


def test_16_bits_are_computed_in_float32_and_rounded_once(multi_head_attention):
    for dtype in (torch.float16, torch.bfloat16):
        arguments = inputs(T=8, S=20, D=32, dtype=dtype)
        for mask in (None, torch.rand(8, 20) < 0.6):
            assert_right(multi_head_attention, arguments, 4, mask, 0.52 * torch.finfo(dtype).eps, 1e-5)


def test_transposed_strided_and_expanded_inputs(multi_head_attention):
    _, _, *weights = inputs()
    x_q, x_kv = torch.randn(3, 2, 8).transpose(0, 1), torch.randn(1, 5, 16)[..., ::2].expand(2, 5, 8)
    mask = (torch.rand(5, 3) < 0.6).t().expand(2, 2, 3, 5)
    assert_right(multi_head_attention, [x_q, x_kv, *(w.t().contiguous().t() for w in weights)], 2, mask)


def test_the_result_lies_on_the_device_of_the_inputs(multi_head_attention):
    arguments = [t.to("meta") for t in inputs()]
    assert multi_head_attention(*arguments, 2).device.type == "meta"
    for mask in masks():
        assert multi_head_attention(*arguments, 2, mask.to("meta")).device.type == "meta"


def test_arguments_changed_in_place_are_read_again(multi_head_attention):
    arguments = inputs()
    multi_head_attention(*arguments, 2)
    for t in arguments:
        t.mul_(-0.5)
    assert_right(multi_head_attention, arguments, 2)


def test_arguments_stay_and_the_results_are_new(multi_head_attention):
    for mask in masks():
        arguments = [*inputs(), 2, mask, True]
        tensors = [t for t in arguments if isinstance(t, torch.Tensor)]
        before = [t.clone() for t in tensors]
        first = multi_head_attention(*arguments)
        kept = [t.clone() for t in first]
        for t in multi_head_attention(*arguments):
            t.add_(1.0)
        assert_close(tensors, before, rtol=0, atol=0)
        assert_close(list(first), kept, rtol=0, atol=0)
