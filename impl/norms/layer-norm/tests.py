"""An oracle in float64, and what must hold for any token: shift and scale drop out, neighbours do not matter."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(x, gamma, beta, eps=1e-5):
    x, gamma, beta = x.double(), gamma.double(), beta.double()
    centred = x - x.mean(-1, keepdim=True)
    return gamma * centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt() + beta


def assert_right(actual, x, gamma, beta, eps=1e-5):
    """Compare with the oracle; 16 bits may be off by half a unit in the last place, and by float32's own error."""
    assert actual.dtype == x.dtype
    tolerance = 1e-12 if x.dtype == torch.float64 else 1e-5
    unit = torch.finfo(x.dtype).eps if x.dtype.itemsize == 2 else 0.0
    assert_close(actual.double(), expected(x, gamma, beta, eps), rtol=tolerance + unit / 2, atol=tolerance)


def affine(width, dtype=torch.float32):
    return torch.randn(width, dtype=dtype), torch.randn(width, dtype=dtype)


@given(st.lists(st.integers(1, 4), max_size=3), st.integers(2, 9), st.sampled_from([1e-8, 1e-5, 0.1, 1.0]))
def test_any_shape_and_any_eps(layer_norm, lead, width, eps):
    # An even spread over the features keeps every row well conditioned, also in float32.
    x = torch.randn(*lead, width) + 3.0 * torch.arange(width)
    gamma, beta = affine(width)
    assert_right(layer_norm(x, gamma, beta, eps), x, gamma, beta, eps)


def test_eps_lies_inside_the_root_and_is_a_hundred_thousandth_by_default(layer_norm):
    x, (gamma, beta) = 1e-3 * torch.randn(4, 8), affine(8)
    assert_right(layer_norm(x, gamma, beta), x, gamma, beta, 1e-5)
    for eps in (1e-8, 1e-6, 1e-2):
        assert_right(layer_norm(x, gamma, beta, eps), x, gamma, beta, eps)


def test_a_constant_row_gives_beta(layer_norm):
    gamma, beta = affine(4)
    for value in (0.0, 3.0, -7.0):
        assert_close(layer_norm(torch.full((2, 4), value), gamma, beta), beta.expand(2, 4))


def test_a_single_feature_gives_beta(layer_norm):
    gamma, beta = affine(1)
    assert_close(layer_norm(torch.randn(3, 1), gamma, beta), beta.expand(3, 1))


def test_shift_and_scale_of_a_token_drop_out(layer_norm):
    x, (gamma, beta) = torch.randn(3, 16, dtype=torch.float64), affine(16, torch.float64)
    plain = layer_norm(x, gamma, beta, 1e-12)
    for shift, scale in ((5.0, 1.0), (0.0, 1e3), (-40.0, 1e-2)):
        assert_close(layer_norm(scale * x + shift, gamma, beta, 1e-12), plain)


def test_tokens_do_not_influence_each_other(layer_norm):
    x, (gamma, beta) = torch.randn(3, 3, 3) * torch.tensor([1e3, 1.0, 1e-2])[:, None], affine(3)
    together = layer_norm(x, gamma, beta)
    for b in range(3):
        for t in range(3):
            assert_close(together[b, t], layer_norm(x[b, t], gamma, beta), rtol=1e-4, atol=1e-4)


def test_a_mean_far_above_the_spread(layer_norm):
    x, gamma, beta = torch.randn(4, 64), torch.ones(64), torch.zeros(64)  # a larger gain would enlarge the error
    for offset in (torch.full((4, 1), 1e4), torch.tensor([[1e4], [-1e4], [0.0], [300.0]])):
        actual = layer_norm(x + offset, gamma, beta)
        assert_close(actual.double(), expected(x + offset, gamma, beta), rtol=0, atol=5e-3)


def test_one_feature_far_above_the_others_is_not_clipped(layer_norm):
    x, (gamma, beta) = torch.randn(2, 256), affine(256)
    x[0, 150], x[1, 3] = 100.0, -60.0
    assert_right(layer_norm(x, gamma, beta), x, gamma, beta)


def test_gradients(layer_norm):
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        x, up = torch.randn(2, 3, 5, dtype=dtype).requires_grad_(), torch.randn(2, 3, 5, dtype=dtype)
        gamma, beta = (vector.requires_grad_() for vector in affine(5, dtype))
        actual = torch.autograd.grad(layer_norm(x, gamma, beta, 0.1), (x, gamma, beta), up)
        exact = torch.autograd.grad(expected(x, gamma, beta, 0.1), (x, gamma, beta), up.double())
        assert_close(actual, exact, rtol=tolerance, atol=tolerance)


def test_float64_keeps_its_digits(layer_norm):
    x, (gamma, beta) = torch.randn(4, 9, dtype=torch.float64), affine(9, torch.float64)
    assert_right(layer_norm(x, gamma, beta), x, gamma, beta)


def test_16_bits_are_rounded_once(layer_norm):
    for dtype, scale in ((torch.float16, 1.0), (torch.bfloat16, 1.0), (torch.float16, 8e3)):  # 8000² overflows float16
        x, (gamma, beta) = (scale * torch.randn(16, 64)).to(dtype), affine(64, dtype)
        assert_right(layer_norm(x, gamma, beta), x, gamma, beta)


def test_any_memory_layout(layer_norm):
    gamma, beta = (torch.randn(12)[::2] for _ in range(2))
    for x in (torch.randn(6, 4).T, torch.randn(4, 12)[:, ::2], torch.randn(1, 6).expand(4, 6)):
        assert_right(layer_norm(x, gamma, beta), x, gamma, beta)


def test_arguments_stay_as_they_are_and_the_result_is_new(layer_norm):
    arguments = [torch.randn(3, 4), *affine(4)]
    before = [argument.clone() for argument in arguments]
    first = layer_norm(*arguments)
    kept = first.clone()
    layer_norm(*(2 * argument + 1 for argument in arguments))
    assert all(map(torch.equal, arguments, before))
    assert torch.equal(layer_norm(*arguments), kept)
    [argument.zero_() for argument in arguments]
    assert torch.equal(first, kept)
