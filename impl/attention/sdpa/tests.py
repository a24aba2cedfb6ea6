"""An oracle in float64, one query at a time, and what must hold for any mask: a hidden key has no influence."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(q, k, v, mask=None, scale=None):
    """Average the visible values of each query in float64."""
    q, k, v = q.double(), k.double(), v.double()
    scores = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    visible = torch.ones(scores.shape, dtype=torch.bool) if mask is None else mask.expand(scores.shape)
    empty = ~visible.any(-1, keepdim=True)
    return scores.masked_fill(~visible & ~empty, -math.inf).softmax(-1).masked_fill(empty, 0.0) @ v


def inputs(lead=(2, 3), T=4, S=6, d=8, dv=5, dtype=torch.float32):
    return [torch.randn(*lead, *shape).to(dtype) for shape in ((T, d), (S, d), (S, dv))]


def masks():
    """Return masks that broadcast to (2, 3, 4, 6) in every way; some queries see nothing."""
    shapes = [(4, 6), (2, 3, 4, 6), (2, 1, 1, 6), (3, 1, 6), (3, 4, 1), (6,), (1, 1, 4, 6)]
    return [torch.rand(shape) < 0.5 for shape in shapes]


def assert_right(actual, arguments, mask=None, scale=None, rtol=1e-4, atol=1e-5):
    q, _, v = arguments
    assert actual.dtype == q.dtype and actual.shape == (*q.shape[:-1], v.shape[-1])
    assert_close(actual.double(), expected(*arguments, mask, scale), rtol=rtol, atol=atol)


@given(st.lists(st.integers(1, 3), max_size=3), *[st.integers(1, 5)] * 4)
def test_any_shape(sdpa, lead, T, S, d, dv):
    arguments, mask = inputs(lead, T, S, d, dv), torch.rand(T, S) < 0.5
    assert_right(sdpa(*arguments), arguments)
    assert_right(sdpa(*arguments, mask), arguments, mask)


def test_any_shape_of_mask(sdpa):
    arguments = inputs()
    for mask in (*masks(), torch.tensor(True), torch.tensor(False)):
        assert_right(sdpa(*arguments, mask), arguments, mask)


def test_long_inputs(sdpa):
    arguments, mask = inputs((2,), T=150, S=300), torch.ones(150, 300, dtype=torch.bool).tril(150)
    assert_right(sdpa(*arguments, mask), arguments, mask)


def test_a_given_scale_takes_the_place_of_the_default(sdpa):
    arguments = inputs()
    for scale in (1.0, 0.3, 0.0, -0.7):
        for mask in (None, *masks()):
            assert_right(sdpa(*arguments, mask, scale), arguments, mask, scale)


def test_at_scale_0_every_visible_key_has_the_same_weight(sdpa):
    q, k, v = inputs()
    assert_close(sdpa(q, k, v, scale=0.0), v.mean(-2, keepdim=True).expand(2, 3, 4, 5), rtol=1e-4, atol=1e-5)


def test_the_order_of_the_keys_does_not_matter(sdpa):
    q, k, v = inputs()
    order = torch.randperm(6)
    assert_close(sdpa(q, k[..., order, :], v[..., order, :]), sdpa(q, k, v), rtol=1e-4, atol=1e-5)


def test_a_query_that_sees_no_key_gives_zeros_with_zero_gradients(sdpa):
    leaves = [x.requires_grad_() for x in inputs()]
    mask = (torch.arange(4) != 1)[:, None].expand(4, 6)
    out = sdpa(*leaves, mask)
    assert torch.equal(out[..., 1, :], torch.zeros(2, 3, 5))
    for slope in torch.autograd.grad(out[..., 1, :].sum(), leaves, retain_graph=True):
        assert torch.equal(slope, torch.zeros_like(slope))
    for slope in torch.autograd.grad(out.sum(), leaves):
        assert slope.isfinite().all()


def test_a_hidden_key_has_no_influence_however_far_it_leads(sdpa):
    q, v = torch.ones(1, 1), torch.randn(3, 2)
    for low, high in ((0.0, 300.0), (-200.0, 200.0), (-3e4, 3e4), (-1e10, 1e10), (-1e30, 1e30)):
        k = torch.tensor([[high], [low], [high]])
        assert_close(sdpa(q, k, v, torch.tensor([False, True, False])), v[1:2])
    k = torch.tensor([[-200.0], [200.0], [-200.0]])
    assert_close(sdpa(q, k, v, torch.tensor([True, False, True]))[0], v[[0, 2]].mean(0), rtol=1e-2, atol=1e-2)


def test_large_scores_are_stable(sdpa):
    for size in (30.0, 1e3, 1e5):
        q, k, v = inputs()
        arguments = [size * q, k, v]
        for mask in (None, *masks()):
            assert_right(sdpa(*arguments, mask), arguments, mask, rtol=1e-3, atol=1e-2)


def test_gradients_are_those_of_the_oracle(sdpa):
    leaves, up = [x.requires_grad_() for x in inputs(dtype=torch.float64)], torch.randn(2, 3, 4, 5, dtype=torch.float64)
    for scale in (None, 0.7, -1.0):
        for mask in (None, *masks()):
            actual = torch.autograd.grad(sdpa(*leaves, mask, scale), leaves, up)
            assert_close(actual, torch.autograd.grad(expected(*leaves, mask, scale), leaves, up))


def test_16_bits_are_computed_in_float32_and_rounded_once(sdpa):
    for dtype in (torch.float16, torch.bfloat16):
        arguments = inputs(T=8, S=40, d=32, dv=16, dtype=dtype)
        for mask in (None, torch.rand(8, 40) < 0.5):
            assert_right(sdpa(*arguments, mask), arguments, mask, None, 0.52 * torch.finfo(dtype).eps, 1e-5)


def test_float16_scores_may_pass_its_largest_number(sdpa):
    q, k, v = (x.half() for x in (torch.full((1, 64), 100.0), torch.full((2, 64), 100.0), torch.randn(2, 3)))
    k[1] = -k[1]
    for scale in (None, 1.0, -1.0):
        assert_right(sdpa(q, k, v, None, scale), (q, k, v), None, scale, 1e-3, 1e-3)


def test_bfloat16_scores_are_not_rounded_to_a_tie(sdpa):
    # The scores are 200 and 200.5; bfloat16 counts in ones from 128 on.
    q, k, v = (torch.tensor(x).bfloat16() for x in ([[100.0, 0.5]], [[2.0, 0.0], [2.0, 1.0]], [[0.0], [1.0]]))
    assert sdpa(q, k, v, None, 1.0).item() == pytest.approx(1 / (1 + math.exp(-0.5)), rel=4e-3)


def test_transposed_strided_and_expanded_inputs(sdpa):
    q, k = torch.randn(2, 4, 3, 8).transpose(1, 2), torch.randn(2, 3, 8, 6).mT
    v, mask = torch.randn(1, 1, 6, 10)[..., ::2].expand(2, 3, 6, 5), (torch.rand(6, 4) < 0.5).t().expand(2, 3, 4, 6)
    assert_right(sdpa(q, k, v, mask), (q, k, v), mask)


def test_the_result_lies_on_the_device_of_the_inputs(sdpa):
    arguments = [x.to("meta") for x in inputs()]
    for mask in (None, *masks()):
        assert sdpa(*arguments, None if mask is None else mask.to("meta")).device.type == "meta"


def test_arguments_stay_and_the_result_is_new(sdpa):
    for mask in (torch.tensor([[True]]), torch.tensor([[False]])):
        arguments = [*inputs(T=1, S=1), mask]
        before = [x.clone() for x in arguments]
        first = sdpa(*arguments)
        kept = first.clone()
        sdpa(*arguments).add_(1.0)
        assert_close(arguments, before, rtol=0, atol=0)
        assert torch.equal(first, kept)
