"""Autograd through a float64 LayerNorm is the oracle; dx must also lack the directions that leave y unchanged."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(dy, x, gamma, eps=1e-5):
    dy, x, gamma = dy.double(), x.double().requires_grad_(), gamma.double().requires_grad_()
    beta = torch.zeros_like(gamma, requires_grad=True)
    centred = x - x.mean(-1, keepdim=True)
    y = gamma * centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt() + beta
    return torch.autograd.grad(y, (x, gamma, beta), dy)


def assert_right(actual, dy, x, gamma, eps=1e-5, tolerance=1e-4):
    """Compare with the oracle. The tolerance is relative to the largest entry, since entries cancel."""
    assert len(actual) == 3
    for ours, exact, like in zip(actual, expected(dy, x, gamma, eps), (x, gamma, gamma), strict=True):
        assert ours.dtype == x.dtype and ours.shape == like.shape
        unit = torch.finfo(x.dtype).eps if x.dtype.itemsize == 2 else 0.0  # 16 bits are rounded once
        atol = tolerance * max(1.0, exact.abs().max().item())
        assert_close(ours.double(), exact, rtol=0.501 * unit, atol=atol)


def drawn(*shape, dtype=torch.float32, scale=1.0):
    return torch.randn(shape).to(dtype), (scale * torch.randn(shape)).to(dtype), torch.randn(shape[-1]).to(dtype)


@given(st.lists(st.integers(1, 4), max_size=3), st.integers(1, 9), st.sampled_from([1e-5, 1e-2, 1.0]))
def test_any_shape_and_any_eps(layer_norm_backward, lead, width, eps):
    # In float64, because two features that happen to lie close together cost float32 its digits.
    dy, x, gamma = drawn(*lead, width, dtype=torch.float64)
    assert_right(layer_norm_backward(dy, x, gamma, eps), dy, x, gamma, eps, 1e-10)


def test_float32_and_the_default_eps(layer_norm_backward):
    for scale in (1e-3, 0.1, 1.0, 50.0):
        dy, x, gamma = drawn(5, 3, 32, scale=scale)
        assert_right(layer_norm_backward(dy, x, gamma), dy, x, gamma)


def test_eps_lies_inside_the_root(layer_norm_backward):
    dy, x, gamma = drawn(4, 8, scale=1e-3)
    for eps in (1e-8, 1e-6, 1e-2):
        assert_right(layer_norm_backward(dy, x, gamma, eps), dy, x, gamma, eps)


def test_dx_has_no_part_along_a_shift_or_a_stretch(layer_norm_backward):
    dy, x, gamma = drawn(4, 6, dtype=torch.float64)
    dx, _, _ = layer_norm_backward(dy, x, gamma, 1e-14)
    assert_close(dx.sum(-1), torch.zeros(4, dtype=torch.float64))
    assert_close((dx * (x - x.mean(-1, keepdim=True))).sum(-1), torch.zeros(4, dtype=torch.float64))


def test_one_feature_cannot_move(layer_norm_backward):
    dy, x, gamma = drawn(3, 1)
    dx, dgamma, dbeta = layer_norm_backward(dy, x, gamma)
    assert_close(dx, torch.zeros(3, 1))
    assert_close(dgamma, torch.zeros(1))
    assert_close(dbeta, dy.sum(0))


def test_a_constant_row_has_a_finite_gradient(layer_norm_backward):
    dy, x, gamma = torch.randn(2, 4), torch.tensor([[3.0] * 4, [0.0] * 4]), torch.randn(4)
    assert_right(layer_norm_backward(dy, x, gamma), dy, x, gamma)


def test_gains_are_summed_over_all_tokens(layer_norm_backward):
    dy, x, gamma = drawn(2, 3, 4, 5)
    _, dgamma, dbeta = layer_norm_backward(dy, x, gamma)
    tokens = zip(dy.reshape(-1, 5), x.reshape(-1, 5), strict=True)
    one_by_one = [layer_norm_backward(*token, gamma) for token in tokens]
    assert_close(dgamma, sum(gradients[1] for gradients in one_by_one), rtol=1e-4, atol=1e-4)
    assert_close(dbeta, sum(gradients[2] for gradients in one_by_one), rtol=1e-4, atol=1e-4)


def test_a_mean_far_above_the_spread(layer_norm_backward):
    dy, x, gamma = drawn(4, 64)
    x = x + torch.tensor([[1e4], [-1e4], [0.0], [300.0]])
    assert_right(layer_norm_backward(dy, x, gamma), dy, x, gamma, tolerance=5e-3)


def test_float64_keeps_ten_digits(layer_norm_backward):
    dy, x, gamma = drawn(6, 16, dtype=torch.float64)
    assert_right(layer_norm_backward(dy, x, gamma), dy, x, gamma, tolerance=1e-10)


def test_16_bits_are_computed_in_float32(layer_norm_backward):
    for dtype in (torch.float16, torch.bfloat16):
        # A scale of 1000: the squares overflow float16. Many tokens: their sum must not be rounded on the way.
        for scale in (1.0, 1e3):
            dy, x, gamma = drawn(200, 32, dtype=dtype, scale=scale)
            assert_right(layer_norm_backward(dy, x, gamma), dy, x, gamma, tolerance=1e-5)


def test_any_memory_layout(layer_norm_backward):
    dy, gamma = torch.randn(1, 6).expand(4, 6), torch.randn(12)[::2]
    for x in (torch.randn(6, 4).T, torch.randn(4, 12)[:, ::2], torch.randn(1, 6).expand(4, 6)):
        assert_right(layer_norm_backward(dy, x, gamma), dy, x, gamma)


def test_the_results_lie_on_the_device_of_the_inputs(layer_norm_backward):
    results = layer_norm_backward(*(tensor.to("meta") for tensor in drawn(2, 3, 4)))
    assert [result.device.type for result in results] == ["meta"] * 3


def test_arguments_stay_as_they_are_and_results_are_new(layer_norm_backward):
    for arguments in (drawn(3, 4), drawn(4)):  # for one token dbeta equals dy, but must not be dy
        before = [argument.clone() for argument in arguments]
        results = layer_norm_backward(*arguments)
        kept = [result.clone() for result in results]
        assert all(map(torch.equal, arguments, before))
        assert all(map(torch.equal, layer_norm_backward(*arguments), kept))
        [argument.zero_() for argument in arguments]
        assert all(map(torch.equal, results, kept))
