"""The product, the bias and GELU in float64 as the oracle, on sizes around those of tiles, and inputs that leave one part alone."""

import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close


def drawn(M, K, N, dtype=torch.float32):
    return [part.to(dtype) for part in (torch.randn(M, K), torch.randn(K, N) / K**0.5, torch.randn(N))]


def assert_right(linear_gelu, x, w, b):
    actual = linear_gelu(x, w, b)
    z = x.double() @ w.double() + b.double()
    exact = F.gelu(z, approximate="tanh")
    assert actual.shape == exact.shape and actual.dtype == x.dtype
    # 1 + tanh cancels: an absolute error remains, relative to the terms of the sum.
    size = max(1.0, (x.double().abs() @ w.double().abs()).max().item())
    rounding = 0.6 * torch.finfo(x.dtype).eps if x.dtype == torch.float16 else 0.0
    assert_close(actual.double(), exact, rtol=1e-5 + rounding, atol=2e-6 * size)


@settings(max_examples=15)
@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 20))
def test_any_shape(linear_gelu, M, K, N):
    assert_right(linear_gelu, *drawn(M, K, N))


def test_sizes_around_those_of_tiles(linear_gelu):
    for M, K, N in ((1, 1, 1), (16, 16, 16), (17, 33, 31), (63, 65, 64), (65, 31, 130), (130, 40, 20), (20, 300, 70)):
        assert_right(linear_gelu, *drawn(M, K, N))


def test_one_of_the_sizes_may_be_far_larger(linear_gelu):
    for M, K, N in ((300, 3, 5), (3, 300, 5), (3, 5, 300), (1, 700, 1)):
        assert_right(linear_gelu, *drawn(M, K, N))


def test_without_a_product_gelu_of_the_bias_is_left(linear_gelu):
    _, w, b = drawn(20, 9, 33)
    assert_close(
        linear_gelu(torch.zeros(20, 9), w, b), F.gelu(b, approximate="tanh").expand(20, 33), rtol=1e-5, atol=1e-6
    )


def test_it_is_the_tanh_form_of_gelu(linear_gelu):
    z = torch.linspace(-6, 6, 41)
    actual = linear_gelu(z[:, None], torch.ones(1, 1), torch.zeros(1))[:, 0]
    # The forms with erf and with σ(1.702z) differ by 3e-4 and more.
    assert_close(actual, F.gelu(z, approximate="tanh"), rtol=1e-5, atol=2e-6)


def test_gelu_acts_on_the_finished_sum(linear_gelu):
    x, w = torch.ones(2, 200), torch.ones(200, 3)
    x[:, 100:] = -1.0  # the parts of the sum cancel
    assert_right(linear_gelu, x, w, torch.tensor([0.5, -0.5, 0.0]))


def test_the_ends_of_gelu(linear_gelu):
    for z in (15.0, 50.0, 100.0, 300.0):
        actual = linear_gelu(torch.tensor([[z], [-z]]), torch.ones(1, 2), torch.zeros(2))
        assert_close(actual, torch.tensor([[z, z], [0.0, 0.0]]), rtol=1e-6, atol=1e-6)


def test_16_bits_are_summed_in_float32(linear_gelu):
    for M, K, N in ((9, 33, 20), (5, 600, 7)):
        assert_right(linear_gelu, *drawn(M, K, N, torch.float16))
    x, w, b = torch.ones(1, 3000).half(), torch.ones(3000, 2).half(), torch.zeros(2).half()
    assert_close(linear_gelu(x, w, b), torch.full((1, 2), 3000.0).half())  # sums in float16 stop at 2,048


def test_views(linear_gelu):
    x, w, b = drawn(20, 9, 33)
    assert_right(linear_gelu, x, torch.randn(33, 9).T, b)
    assert_right(linear_gelu, torch.randn(9, 20).T, w, torch.randn(66)[::2])
    assert_right(linear_gelu, torch.randn(20, 18)[:, ::2], torch.randn(18, 66)[::2, ::2], b)
    assert_right(linear_gelu, x[:1].expand(20, 9), w[:, :1].expand(9, 33), b[:1].expand(33))


def test_the_elements_around_a_view_have_no_influence(linear_gelu):
    wide = [torch.full((40, 60), float("nan")) for _ in range(2)]
    wide[0][3:23, 5:14], wide[1][2:11, 7:40] = torch.randn(20, 9), torch.randn(9, 33)
    assert_right(linear_gelu, wide[0][3:23, 5:14], wide[1][2:11, 7:40], torch.randn(33))


def test_arguments_stay_as_they_are(linear_gelu):
    arguments = drawn(20, 9, 33)
    before = [argument.clone() for argument in arguments]
    first = linear_gelu(*arguments)
    assert all(map(torch.equal, arguments, before)) and torch.equal(linear_gelu(*arguments), first)
