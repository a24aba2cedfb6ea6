"""An oracle in float64 that adds the sink as one more key with the value 0, and what the sink's limits imply."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(q, k, v, sink, window=None):
    """Attend in float64, one head at a time; the sink is a further score in the softmax, without a value."""
    q, k, v, sink = (x.double() for x in (q, k, v, sink))
    (B, H, T, d), (G, S) = q.shape, k.shape[1:3]
    position, key = torch.arange(S - T, S)[:, None], torch.arange(S)
    visible = key <= position
    if window is not None:
        visible = visible & (key > position - window)
    heads = []
    for h in range(H):
        g = h // (H // G)
        scores = (q[:, h] @ k[:, g].mT / math.sqrt(d)).masked_fill(~visible, -math.inf)
        weights = torch.cat([scores, sink[h].expand(B, T, 1)], -1).softmax(-1)[..., :-1]
        heads.append(weights @ v[:, g])
    return torch.stack(heads, 1)


def inputs(B=2, H=4, G=2, T=3, S=5, d=8, dtype=torch.float32):
    shapes = [(B, H, T, d), (B, G, S, d), (B, G, S, d), (H,)]
    return [torch.randn(shape).to(dtype) for shape in shapes]


def assert_right(actual, arguments, window=None, rtol=1e-4, atol=1e-5):
    assert actual.dtype == arguments[0].dtype and actual.shape == arguments[0].shape
    assert_close(actual.double(), expected(*arguments, window), rtol=rtol, atol=atol)


@given(*[st.integers(1, 3)] * 4, st.integers(0, 3), st.sampled_from([1, 2, 5]), st.sampled_from([None, 1, 2, 4, 50]))
def test_any_sizes(sink_attention, B, G, R, T, past, d, window):
    arguments = inputs(B, G * R, G, T, T + past, d)
    assert_right(sink_attention(*arguments, window), arguments, window)


def test_long_inputs_with_and_without_a_window(sink_attention):
    arguments = inputs(T=20, S=70)
    for window in (None, 1, 7, 50, 69, 70, 1000):
        assert_right(sink_attention(*arguments, window), arguments, window)


def test_each_query_head_has_its_own_sink(sink_attention):
    # Keys of 0 score 0, so one visible value is weighted 1 / (exp(sink) + 1).
    sink = torch.tensor([-2.0, 0.0, 1.0, 3.0])
    q, k, v = torch.randn(1, 4, 1, 2), torch.zeros(1, 2, 1, 2), torch.ones(1, 2, 1, 2)
    assert_close(sink_attention(q, k, v, sink)[0, :, 0, 0], 1 / (sink.exp() + 1))


def test_a_sink_of_minus_infinity_is_ordinary_attention(sink_attention):
    q, k, v, _ = inputs(T=5)
    arguments = [q, k, v, torch.full((4,), -math.inf, requires_grad=True)]
    for window in (None, 2):
        out = sink_attention(*arguments, window)
        assert_right(out, arguments, window)
        (slope,) = torch.autograd.grad(out.sum(), arguments[3])
        assert torch.equal(slope, torch.zeros(4))


def test_a_large_sink_takes_all_the_weight(sink_attention):
    q, k, v, sink = inputs()
    assert_close(sink_attention(q, k, v, sink + 1000), torch.zeros_like(q), rtol=0, atol=1e-6)


def test_queries_one_by_one_equal_all_at_once(sink_attention):
    q, k, v, sink = inputs(T=5, S=7)
    for window in (None, 3):
        whole = sink_attention(q, k, v, sink, window)
        for i in range(5):
            one = sink_attention(q[:, :, i : i + 1], k[:, :, : i + 3], v[:, :, : i + 3], sink, window)
            assert_close(one, whole[:, :, i : i + 1], rtol=1e-4, atol=1e-5)


def test_fewer_keys_than_queries_are_refused(sink_attention):
    with pytest.raises(ValueError):
        sink_attention(*inputs(T=5, S=4))


def test_scores_and_sinks_of_1000_are_stable_with_their_gradients(sink_attention):
    # With d = 1 the scores are the keys times ±1. exp(1000) overflows in float64 too, so gradients are compared there.
    q = torch.tensor([1.0, -1.0]).repeat(8).reshape(1, 4, 4, 1)
    k = torch.tensor([1000.0, -1000.0, 999.0, -999.5, 0.0, 5.0, -1000.0, 1000.0]).reshape(1, 1, 8, 1)
    v = torch.randn(1, 1, 8, 1)
    for sink in ([1000.0, -1000.0, 999.5, 0.0], [-1000.0] * 4, [1000.0] * 4):
        for window in (None, 1, 3):
            arguments = [q, k, v, torch.tensor(sink)]
            assert_right(sink_attention(*arguments, window), arguments, window, 1e-3, 1e-3)
            leaves = [x.double().requires_grad_() for x in arguments]
            actual = torch.autograd.grad(sink_attention(*leaves, window).sum(), leaves)
            assert_close(actual, torch.autograd.grad(expected(*leaves, window).sum(), leaves))


def test_a_hidden_key_has_no_influence(sink_attention):
    q, k, v, sink = inputs(T=5)
    changed = k.clone(), v.clone()
    changed[0][:, :, 3:], changed[1][:, :, 3:] = 1e4, -1e4
    assert_close(sink_attention(q, *changed, sink)[:, :, :3], sink_attention(q, k, v, sink)[:, :, :3])


def test_gradients_are_those_of_the_oracle(sink_attention):
    leaves, up = [x.requires_grad_() for x in inputs(dtype=torch.float64)], torch.randn(2, 4, 3, 8, dtype=torch.float64)
    for window in (None, 1, 2):
        actual = torch.autograd.grad(sink_attention(*leaves, window), leaves, up)
        assert_close(actual, torch.autograd.grad(expected(*leaves, window), leaves, up))


def test_16_bits_are_computed_in_float32_and_rounded_once(sink_attention):
    for dtype in (torch.float16, torch.bfloat16):
        for window in (None, 4):
            arguments = inputs(T=8, S=20, d=16, dtype=dtype)
            out = sink_attention(*arguments, window)
            assert_right(out, arguments, window, 0.52 * torch.finfo(dtype).eps, 1e-5)


def test_transposed_strided_and_expanded_inputs(sink_attention):
    q, k = torch.randn(2, 3, 4, 8).transpose(1, 2), torch.randn(2, 2, 8, 5).mT
    v, sink = torch.randn(1, 1, 5, 16)[..., ::2].expand(2, 2, 5, 8), torch.randn(8)[::2]
    assert_right(sink_attention(q, k, v, sink, 2), (q, k, v, sink), 2)


def test_the_result_lies_on_the_device_of_the_inputs(sink_attention):
    for window in (None, 2):
        assert sink_attention(*(x.to("meta") for x in inputs()), window).device.type == "meta"


def test_arguments_stay_and_the_result_is_new(sink_attention):
    arguments = inputs(T=1, S=1)
    before = [x.clone() for x in arguments]
    first = sink_attention(*arguments)
    kept = first.clone()
    sink_attention(*arguments).add_(1.0)
    assert_close(arguments, before, rtol=0, atol=0)
    assert torch.equal(first, kept)
