"""Autograd through a float64 forward pass as the oracle, and what the formulas imply for any input."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(q, k, v, do):
    """Differentiate Σ o·do in float64."""
    q, k, v = (x.detach().double().requires_grad_() for x in (q, k, v))
    weights = (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)
    return torch.autograd.grad((weights @ v * do.double()).sum(), (q, k, v))


def inputs(lead=(2, 3), T=4, S=6, d=8, dv=5, dtype=torch.float32):
    return [torch.randn(*lead, *shape).to(dtype) for shape in ((T, d), (S, d), (S, dv), (T, dv))]


def assert_right(actual, arguments, rtol, atol):
    assert isinstance(actual, tuple) and len(actual) == 3
    for gradient, exact, x in zip(actual, expected(*arguments), arguments[:3], strict=True):
        assert gradient.dtype == x.dtype and gradient.shape == x.shape
        assert_close(gradient.double(), exact, rtol=rtol, atol=atol)


@given(st.lists(st.integers(1, 3), max_size=3), *[st.integers(1, 6)] * 4)
def test_any_shape(sdpa_backward, lead, T, S, d, dv):
    arguments = inputs(lead, T, S, d, dv)
    assert_right(sdpa_backward(*arguments), arguments, 1e-4, 1e-5)


def test_many_keys_and_wide_heads(sdpa_backward):
    arguments = inputs((2,), T=9, S=300, d=64, dv=32)
    assert_right(sdpa_backward(*arguments), arguments, 1e-4, 1e-5)


def test_float64_keeps_its_digits(sdpa_backward):
    arguments = inputs(dtype=torch.float64)
    assert_right(sdpa_backward(*arguments), arguments, 1e-9, 1e-9)


def test_the_gradients_are_linear_in_do(sdpa_backward):
    q, k, v, do = inputs(dtype=torch.float64)
    for scale in (0.0, -3.0, 1e3):
        for scaled, once in zip(sdpa_backward(q, k, v, scale * do), sdpa_backward(q, k, v, do), strict=True):
            assert_close(scaled, scale * once, rtol=1e-6, atol=1e-6)


def test_equal_values_leave_no_gradient_at_the_scores(sdpa_backward):
    # o does not depend on the weights, so dq and dk are 0.
    q, k, v, do = inputs()
    dq, dk, _ = sdpa_backward(q, k, v[..., :1, :].expand_as(v), do)
    assert_close(dq, torch.zeros_like(q), rtol=0, atol=1e-5)
    assert_close(dk, torch.zeros_like(k), rtol=0, atol=1e-5)


def test_batches_do_not_influence_each_other(sdpa_backward):
    arguments = inputs((2, 3))
    together = sdpa_backward(*arguments)
    for b in range(2):
        for h in range(3):
            for whole, one in zip(together, sdpa_backward(*(x[b, h] for x in arguments)), strict=True):
                assert_close(whole[b, h], one, rtol=1e-4, atol=1e-5)


def test_large_scores_are_stable(sdpa_backward):
    for sign in (1.0, -1.0):
        q, k, v, do = inputs(d=1, T=16, S=16)
        # Every score of the first query lies near ±200: without its maximum subtracted, exp overflows or the sum is 0.
        q, k = q.clamp(-1, 1), 200.0 + k
        q[..., 0, :] = sign
        assert_right(sdpa_backward(q, k, v, do), (q, k, v, do), 1e-2, 1e-2)


def test_one_key_with_all_the_weight_leaves_dq_and_dk_at_zero(sdpa_backward):
    for d in (1, 4):
        q, k, v, do = inputs(d=d)
        q, k = torch.ones_like(q), torch.zeros_like(k)
        k[..., 2, :] = 200.0 / math.sqrt(d)
        dq, dk, dv = sdpa_backward(q, k, v, do)
        assert_close(dq, torch.zeros_like(q), rtol=0, atol=1e-4)
        assert_close(dk, torch.zeros_like(k), rtol=0, atol=1e-4)
        assert_close(dv[..., 2, :], do.sum(-2), rtol=1e-4, atol=1e-4)


def test_16_bits_are_computed_in_float32_and_rounded_once(sdpa_backward):
    for dtype in (torch.float16, torch.bfloat16):
        arguments = inputs(T=8, S=24, d=16, dv=16, dtype=dtype)
        assert_right(sdpa_backward(*arguments), arguments, 0.52 * torch.finfo(dtype).eps, 1e-5)


def test_transposed_strided_and_expanded_inputs(sdpa_backward):
    q, k = torch.randn(2, 4, 3, 8).transpose(1, 2), torch.randn(2, 3, 8, 6).mT
    v, do = torch.randn(2, 3, 6, 10)[..., ::2], torch.randn(1, 1, 4, 5).expand(2, 3, 4, 5)
    assert_right(sdpa_backward(q, k, v, do), (q, k, v, do), 1e-4, 1e-5)


def test_the_gradients_lie_on_the_device_of_the_inputs(sdpa_backward):
    arguments = [x.to("meta") for x in inputs()]
    for gradient, x in zip(sdpa_backward(*arguments), arguments[:3], strict=True):
        assert gradient.device.type == "meta" and gradient.shape == x.shape


def test_arguments_stay_and_the_results_are_new(sdpa_backward):
    for T, S in ((4, 6), (1, 1)):
        arguments = inputs(T=T, S=S)
        before = [x.clone() for x in arguments]
        first = sdpa_backward(*arguments)
        kept = [x.clone() for x in first]
        for gradient in sdpa_backward(*arguments):
            gradient.add_(1.0)
        assert_close(arguments, before, rtol=0, atol=0)
        assert_close(list(first), kept, rtol=0, atol=0)
