"""torch's layer norm in float64 as the oracle, on rows around the sizes of blocks and far from zero."""

import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close


def drawn(*shape, dtype=torch.float32, scale=1.0, shift=0.0):
    D = shape[-1]
    return [(shift + scale * torch.randn(shape)).to(dtype), torch.randn(D).to(dtype), torch.randn(D).to(dtype)]


def assert_right(layer_norm, arguments, *eps, tolerance=2e-5):
    x, weight, bias = arguments
    actual = layer_norm(x, weight, bias, *eps)
    exact = F.layer_norm(x.double(), x.shape[-1:], weight.double(), bias.double(), *eps)
    assert actual.shape == x.shape and actual.dtype == x.dtype
    rounding = 0.5 * torch.finfo(x.dtype).eps if x.dtype == torch.float16 else 0.0
    assert_close(actual.double(), exact, rtol=tolerance + rounding, atol=tolerance)


@settings(max_examples=20)
@given(st.lists(st.integers(1, 3), max_size=3), st.integers(1, 40))
def test_any_shape(layer_norm, leading, D):
    # Entries that nearly cancel in x − μ lose digits: an absolute tolerance covers that.
    assert_right(layer_norm, drawn(*leading, D), tolerance=1e-4)


def test_rows_of_any_width(layer_norm):
    for D in (1, 2, 31, 33, 127, 128, 129, 1000, 1023, 1024, 1025, 2049, 3000):
        assert_right(layer_norm, drawn(3, D), tolerance=1e-4)


def test_any_number_of_rows(layer_norm):
    for rows in (1, 7, 8, 9, 17, 37):
        assert_right(layer_norm, drawn(rows, 5))


def test_eps_is_used_as_given_inside_the_root(layer_norm):
    for eps in (1e-8, 1e-3, 0.5, 4.0):
        for scale in (1.0, 0.03):
            assert_right(layer_norm, drawn(3, 9, scale=scale), eps, tolerance=1e-4)


def test_a_narrow_row_feels_the_default_eps(layer_norm):
    assert_right(layer_norm, drawn(3, 9, scale=3e-3))


def test_equal_entries_give_the_bias(layer_norm):
    _, weight, bias = drawn(3, 9)
    for value in (0.0, 3.0, -3000.0):
        assert_close(layer_norm(torch.full((3, 9), value), weight, bias), bias.expand(3, 9))


def test_mean_0_and_variance_1(layer_norm):
    y = layer_norm(*drawn(3, 1000)[:1], torch.ones(1000), torch.zeros(1000))
    assert_close(y.mean(dim=-1), torch.zeros(3), rtol=0.0, atol=1e-5)
    assert_close(y.var(dim=-1, correction=0), torch.ones(3), rtol=1e-4, atol=1e-4)


def test_the_variance_is_exact_far_from_zero(layer_norm):
    for D in (5, 100, 3000):
        for shift in (3000.0, -3000.0):
            # The mean is rounded to float32, whose numbers are 2.4e-4 apart here.
            assert_right(layer_norm, drawn(3, D, shift=shift), tolerance=2e-3)


def test_parts_of_a_row_may_have_different_means(layer_norm):
    x, weight, bias = drawn(3, 3000)
    assert_right(layer_norm, (x + torch.linspace(-20, 20, 3000), weight, bias), tolerance=1e-4)


def test_16_bits_are_rounded_once(layer_norm):
    for D in (7, 1000):
        for scale, shift in ((1.0, 0.0), (10.0, 100.0), (1e3, 0.0), (3e3, 2e4)):
            assert_right(layer_norm, drawn(3, D, dtype=torch.float16, scale=scale, shift=shift), tolerance=1e-4)


def test_views(layer_norm):
    weight, bias = torch.randn(18)[::2], torch.randn(1).expand(9)
    assert_right(layer_norm, (torch.randn(9, 5).T, weight, bias), tolerance=1e-4)
    assert_right(layer_norm, (torch.randn(5, 18)[:, ::2], bias, weight), tolerance=1e-4)
    assert_right(layer_norm, (torch.randn(1, 9).expand(5, 9), weight, weight), tolerance=1e-4)
    assert_right(layer_norm, (torch.randn(2, 3, 9).transpose(0, 1), weight, bias), tolerance=1e-4)


def test_the_elements_around_a_view_have_no_influence(layer_norm):
    wide = [torch.full((500,), value) for value in (1e4, float("nan"), float("nan"))]
    for tensor in wide:
        tensor[100:165] = torch.randn(65)
    x, weight, bias = (tensor[100:165] for tensor in wide)
    assert_right(layer_norm, (x.view(5, 13), weight[:13], bias[:13]), tolerance=1e-4)


def test_arguments_stay_as_they_are(layer_norm):
    arguments = drawn(5, 9)
    before = [argument.clone() for argument in arguments]
    first = layer_norm(*arguments)
    assert all(map(torch.equal, arguments, before)) and torch.equal(layer_norm(*arguments), first)
