"""An oracle in float64 on the rounded sum, on rows around the sizes of blocks, and arguments that must stay as they are."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(x, residual, weight, eps=1e-6):
    h = (x.float() + residual.float()).to(x.dtype)  # the norm is that of the rounded sum
    rows = h.double()
    return rows / (rows.pow(2).mean(dim=-1, keepdim=True) + eps).sqrt() * weight.double(), h


def drawn(*shape, dtype=torch.float32, scale=1.0):
    return [
        (scale * torch.randn(shape)).to(dtype),
        (scale * torch.randn(shape)).to(dtype),
        torch.randn(shape[-1]).to(dtype),
    ]


def assert_right(rms_norm_residual, arguments, *eps):
    y, h = rms_norm_residual(*arguments, *eps)
    exact, due = expected(*arguments, *eps)
    assert y.shape == h.shape == arguments[0].shape and y.dtype == h.dtype == arguments[0].dtype
    assert torch.equal(h, due)
    # 16 bits: half a unit in the last place, and half the smallest number.
    rounding = 0.5 * torch.finfo(y.dtype).eps if y.dtype == torch.float16 else 0.0
    assert_close(y.double(), exact, rtol=1e-5 + rounding, atol=1e-6 if rounding == 0 else 1e-7)


@settings(max_examples=20)
@given(st.lists(st.integers(1, 3), max_size=3), st.integers(1, 40))
def test_any_shape(rms_norm_residual, leading, D):
    assert_right(rms_norm_residual, drawn(*leading, D))


def test_rows_of_any_width(rms_norm_residual):
    for D in (1, 2, 31, 33, 127, 128, 129, 1000, 1023, 1024, 1025, 2049, 3000):
        assert_right(rms_norm_residual, drawn(3, D))


def test_any_number_of_rows(rms_norm_residual):
    for rows in (1, 7, 8, 9, 17, 37):
        assert_right(rms_norm_residual, drawn(rows, 5))


def test_eps_is_used_as_given_inside_the_root(rms_norm_residual):
    for eps in (1e-8, 1e-3, 0.5, 4.0):
        for scale in (1.0, 1e-2):
            assert_right(rms_norm_residual, drawn(3, 9, scale=scale), eps)


def test_small_rows_feel_the_default_eps(rms_norm_residual):
    assert_right(rms_norm_residual, drawn(3, 9, scale=1e-3))


def test_a_row_of_zeros_stays_zero(rms_norm_residual):
    x, residual, weight = drawn(3, 9)
    y, h = rms_norm_residual(x, -x, weight)
    assert not y.any() and not h.any()


def test_a_weight_of_one_gives_a_mean_square_of_one(rms_norm_residual):
    x, residual, weight = drawn(3, 1000)
    y, _ = rms_norm_residual(x, residual, torch.ones(1000))
    assert_close(y.pow(2).mean(dim=-1), torch.ones(3), rtol=1e-4, atol=1e-4)


def test_16_bits_are_rounded_once(rms_norm_residual):
    for D in (7, 1000):
        assert_right(rms_norm_residual, drawn(3, D, dtype=torch.float16))


def test_squares_beyond_float16(rms_norm_residual):
    for scale in (300.0, 7e3):
        assert_right(rms_norm_residual, drawn(3, 100, dtype=torch.float16, scale=scale))


def test_views(rms_norm_residual):
    x, residual, weight = torch.randn(9, 5).T, torch.randn(5, 18)[:, ::2], torch.randn(18)[::2]
    assert_right(rms_norm_residual, (x, residual, weight))
    assert_right(rms_norm_residual, (residual, x, weight[:1].expand(9)))
    assert_right(rms_norm_residual, (torch.randn(1, 9).expand(5, 9), x, weight.contiguous()))
    assert_right(rms_norm_residual, (torch.randn(2, 3, 9).transpose(0, 1), torch.randn(3, 2, 9), weight.contiguous()))


def test_the_elements_around_a_view_have_no_influence(rms_norm_residual):
    wide = [torch.full((500,), value) for value in (float("nan"), 1e4, float("nan"))]
    for tensor in wide:
        tensor[100:165] = torch.randn(65)
    x, residual, weight = (tensor[100:165] for tensor in wide)
    assert_right(rms_norm_residual, (x.view(5, 13), residual.view(5, 13), weight[:13]))


def test_arguments_stay_as_they_are_and_results_are_new(rms_norm_residual):
    arguments = drawn(5, 9)
    before = [argument.clone() for argument in arguments]
    y, h = rms_norm_residual(*arguments)
    kept = y.clone(), h.clone()
    assert all(map(torch.equal, arguments, before))
    for argument in arguments:
        argument.zero_()
    assert torch.equal(h, kept[1])
    h.zero_()
    assert torch.equal(y, kept[0])
