"""An oracle in float64, and what must hold for any token: its scale drops out, its neighbours have no influence."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(x, weight, eps=1e-6):
    x, weight = x.double(), weight.double()
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * weight


def assert_right(actual, x, weight, eps=1e-6):
    """Compare with the oracle; the tolerance follows from the dtype of x, which the result keeps."""
    assert actual.dtype == x.dtype
    # 16 bits: one rounding after the norm, one after the weight, each of half a unit in the last place.
    rtol = {torch.float64: 1e-12, torch.float32: 1e-5}.get(x.dtype, 1.01 * torch.finfo(x.dtype).eps)
    assert_close(actual.double(), expected(x, weight, eps), rtol=rtol, atol=torch.finfo(x.dtype).tiny)


@given(st.lists(st.integers(1, 4), max_size=3), st.integers(1, 9), st.sampled_from([1e-8, 1e-6, 0.1, 1.0]))
def test_any_shape_and_any_eps(rms_norm, lead, width, eps):
    x, weight = torch.randn(*lead, width), torch.randn(width)
    assert_right(rms_norm(x, weight, eps), x, weight, eps)


def test_eps_lies_inside_the_root_and_is_a_millionth_by_default(rms_norm):
    x, weight = 1e-4 * torch.randn(4, 8), torch.randn(8)
    assert_right(rms_norm(x, weight), x, weight, 1e-6)
    for eps in (1e-10, 1e-8, 1e-4):
        assert_right(rms_norm(x, weight, eps), x, weight, eps)


def test_a_row_of_zeros_stays_zero(rms_norm):
    assert_close(rms_norm(torch.zeros(2, 4), torch.randn(4)), torch.zeros(2, 4))


def test_a_constant_row_becomes_the_weight_with_its_sign(rms_norm):
    weight = torch.randn(5)
    assert_close(rms_norm(torch.full((2, 5), -7.0), weight, 1e-12), -weight.expand(2, 5))


def test_the_scale_of_a_token_drops_out(rms_norm):
    x, weight = torch.randn(3, 16), torch.randn(16)
    for scale in (1e-2, 1e3, 1e6):
        assert_close(rms_norm(scale * x, weight, 1e-12), rms_norm(x, weight, 1e-12))


def test_tokens_do_not_influence_each_other(rms_norm):
    x, weight = torch.randn(2, 3, 8) * torch.tensor([1e4, 1.0, 1e-3])[:, None], torch.randn(8)
    together = rms_norm(x, weight)
    for b in range(2):
        for t in range(3):
            assert_close(together[b, t], rms_norm(x[b, t], weight))


def test_one_feature_far_above_the_others_is_not_clipped(rms_norm):
    x, weight = torch.randn(2, 256), torch.randn(256)
    x[0, 150], x[1, 3] = 100.0, -60.0
    assert_right(rms_norm(x, weight), x, weight)


def test_gradients(rms_norm):
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-4)):
        x = torch.randn(2, 3, 5, dtype=dtype, requires_grad=True)
        weight, up = torch.randn(5, dtype=dtype, requires_grad=True), torch.randn(2, 3, 5, dtype=dtype)
        actual = torch.autograd.grad(rms_norm(x, weight, 0.1), (x, weight), up)
        exact = torch.autograd.grad(expected(x, weight, 0.1), (x, weight), up.double())
        assert_close(actual, exact, rtol=tolerance, atol=tolerance)


def test_the_gradient_is_orthogonal_to_the_token(rms_norm):
    x = torch.randn(4, 6, dtype=torch.float64, requires_grad=True)
    out = rms_norm(x, torch.randn(6, dtype=torch.float64), 1e-12)
    (slope,) = torch.autograd.grad(out, x, torch.randn_like(out))
    assert_close((slope * x).sum(-1), torch.zeros(4, dtype=torch.float64))


def test_float64_keeps_its_digits(rms_norm):
    x, weight = torch.randn(4, 9, dtype=torch.float64), torch.randn(9, dtype=torch.float64)
    assert_right(rms_norm(x, weight), x, weight)


def test_16_bits_are_normalised_in_float32(rms_norm):
    for dtype in (torch.float16, torch.bfloat16):
        x, weight = torch.randn(16, 64).to(dtype), torch.randn(64).to(dtype)
        assert_right(rms_norm(x, weight), x, weight)


def test_float16_squares_may_overflow_or_vanish(rms_norm):
    weight = torch.rand(32).half() + 0.5
    for scale, eps in ((8e3, 1e-6), (1e-4, 1e-12)):
        x = (scale * torch.randn(4, 32)).half()
        assert_right(rms_norm(x, weight, eps), x, weight, eps)


def test_any_memory_layout(rms_norm):
    weight = torch.randn(12)[::2]
    for x in (torch.randn(6, 4).T, torch.randn(4, 12)[:, ::2], torch.randn(1, 6).expand(4, 6)):
        assert_right(rms_norm(x, weight), x, weight)


def test_the_result_lies_on_the_device_of_the_input(rms_norm):
    out = rms_norm(torch.ones(2, 3, device="meta"), torch.ones(3, device="meta"))
    assert out.device.type == "meta" and out.shape == (2, 3)


def test_arguments_stay_as_they_are_and_the_result_is_new(rms_norm):
    x, weight = torch.randn(3, 4), torch.randn(4)
    x_before, weight_before = x.clone(), weight.clone()
    first = rms_norm(x, weight)
    kept = first.clone()
    rms_norm(2 * x + 1, weight)
    assert torch.equal(x, x_before) and torch.equal(weight, weight_before)
    assert_close(rms_norm(x, weight), kept, rtol=0, atol=0)
    x.zero_(), weight.zero_()
    assert torch.equal(first, kept)
