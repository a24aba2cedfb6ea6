"""Codes, scales and zero points checked against the table of the statement, and against what comes back."""

import torch
from hypothesis import given
from hypothesis import strategies as st

SHAPES = [(1,), (7,), (3, 4), (2, 1), (2, 3, 4)]


def cases():
    """Yield a shape and an axis that is allowed for it."""
    for shape in SHAPES:
        yield shape, None
        if len(shape) > 1:
            yield from ((shape, axis) for axis in range(len(shape)))


def check(quantize_int8, dequantize, w, axis, symmetric):
    q, scale, zero = quantize_int8(w, axis, symmetric)
    reduced = [dim for dim in range(w.dim()) if dim != axis]
    kept = tuple(1 if dim in reduced else n for dim, n in enumerate(w.shape))
    wide = torch.promote_types(w.dtype, torch.float32)
    assert (q.dtype, scale.dtype, zero.dtype) == (torch.int8, wide, torch.int32)
    assert q.shape == w.shape and scale.shape == zero.shape == kept

    low, high = w.double().amin(reduced, True).clamp(max=0), w.double().amax(reduced, True).clamp(min=0)
    exact = torch.maximum(high, -low) / 127 if symmetric else (high - low) / 255
    exact = exact.masked_fill(exact == 0, 1.0)
    torch.testing.assert_close(scale.double(), exact, rtol=1e-6, atol=0)
    if symmetric:
        assert not zero.any() and q.min() >= -127
    else:
        # Rounded either way where −128 − min/scale is near a half.
        assert ((zero - (-128 - low / exact)).abs() <= 0.5 + 1e-3).all()
    back = dequantize(q, scale, zero)
    assert back.dtype == wide and back.shape == w.shape
    torch.testing.assert_close(back.double(), (q.double() - zero) * scale.double(), rtol=1e-5, atol=0)
    assert ((back.double() - w.double()).abs() <= 0.505 * scale.double()).all()
    assert not back[w == 0].any()


def test_symmetric_codes(quantize_int8):
    q, scale, zero = quantize_int8(torch.tensor([-127.0, 3.4, 63.0, 0.0, -0.6]), None, True)
    assert q.tolist() == [-127, 3, 63, 0, -1] and scale.tolist() == [1.0] and zero.tolist() == [0]


def test_asymmetric_codes_use_the_whole_range(quantize_int8):
    q, scale, zero = quantize_int8(torch.tensor([-55.0, 0.0, 200.0, 10.4]), None, False)
    assert scale.tolist() == [1.0] and zero.tolist() == [-73]
    assert q.tolist() == [-128, -73, 127, -63]


def test_the_asymmetric_range_includes_0(quantize_int8, dequantize):
    for values, zero, ends in [([100.0, 255.0], -128, [-28, 127]), ([-100.0, -255.0], 127, [27, -128])]:
        q, scale, z = quantize_int8(torch.tensor(values), None, False)
        assert scale.tolist() == [1.0] and z.tolist() == [zero] and q.tolist() == ends
        assert dequantize(q, scale, z).tolist() == values


def test_axis_is_the_dimension_that_is_kept(quantize_int8):
    w = torch.tensor([[127.0, 254.0, 0.0], [-1270.0, 127.0, 127.0]])
    assert quantize_int8(w, 0, True)[1].tolist() == [[2.0], [10.0]]
    assert quantize_int8(w, 1, True)[1].tolist() == [[10.0, 2.0, 1.0]]
    assert quantize_int8(w, None, True)[1].tolist() == [[10.0]]


@given(
    st.sampled_from(list(cases())),
    st.booleans(),
    st.sampled_from([1e-20, 1e-3, 1.0, 1e4]),
    st.floats(-3, 3),
    st.integers(0, 1000),
)
def test_no_number_is_off_by_more_than_half_a_scale(quantize_int8, dequantize, case, symmetric, size, shift, seed):
    shape, axis = case
    generator = torch.Generator().manual_seed(seed)
    w = size * (torch.randn(shape, generator=generator) + shift)
    w[torch.rand(shape, generator=generator) < 0.2] = 0.0
    check(quantize_int8, dequantize, w, axis, symmetric)


def test_codes_stay_in_range_where_both_ends_lie_at_a_half(quantize_int8, dequantize):
    # Zero point and code may both be rounded up, and their sum is then 128.
    for n in range(255):
        check(quantize_int8, dequantize, torch.tensor([-n - 0.5, 254.5 - n]), None, False)


def test_many_numbers(quantize_int8, dequantize):
    for symmetric in (False, True):
        for axis in (None, 0, 1):
            check(quantize_int8, dequantize, torch.randn(40, 300), axis, symmetric)


def test_a_slice_has_no_influence_on_another(quantize_int8):
    w = torch.randn(3, 5)
    for symmetric in (False, True):
        rows = [quantize_int8(w[i : i + 1], 0, symmetric) for i in range(3)]
        whole = quantize_int8(w, 0, symmetric)
        for n in range(3):
            assert torch.equal(whole[n], torch.cat([row[n] for row in rows]))


def test_a_slice_of_zeros_has_scale_1(quantize_int8, dequantize):
    w = torch.randn(3, 4)
    w[1] = 0.0
    for symmetric in (False, True):
        q, scale, zero = quantize_int8(w, 0, symmetric)
        assert scale[1] == 1 and not dequantize(q, scale, zero)[1].any()
        check(quantize_int8, dequantize, w, 0, symmetric)
        check(quantize_int8, dequantize, torch.zeros(5), None, symmetric)


def test_16_bits_are_widened_before_anything_else(quantize_int8, dequantize):
    for dtype in (torch.float16, torch.bfloat16):
        for symmetric in (False, True):
            for size in (1.0, 1e-6, 3e4):
                w = (size * (2 * torch.rand(8, 50) - 0.7)).to(dtype)
                check(quantize_int8, dequantize, w, 0, symmetric)


def test_float64_keeps_float64(quantize_int8, dequantize):
    for symmetric in (False, True):
        check(quantize_int8, dequantize, torch.randn(3, 4, dtype=torch.float64), 1, symmetric)


def test_dequantize_subtracts_the_zero_point_in_a_wide_type(dequantize):
    # 127 − (−128) is no int8.
    q, zero = torch.tensor([[127, -128]], dtype=torch.int8), torch.tensor([[-128]], dtype=torch.int32)
    assert dequantize(q, torch.tensor([[0.5]]), zero).tolist() == [[127.5, 0.0]]
    assert dequantize(q, torch.tensor([[0.5]]), -zero).tolist() == [[-0.5, -128.0]]


def test_strided_weights_stay_and_results_are_new(quantize_int8, dequantize):
    for w in (torch.randn(4, 3).T, torch.randn(3, 8)[:, ::2], torch.randn(3, 1).expand(3, 4)):
        before = w.clone()
        for symmetric in (False, True):
            check(quantize_int8, dequantize, w, 0, symmetric)
            q, scale, zero = quantize_int8(w, 1, symmetric)
            kept = q.clone(), scale.clone(), zero.clone()
            dequantize(q, scale, zero).zero_()
            assert all(torch.equal(one, old) for one, old in zip((q, scale, zero), kept, strict=True))
        assert torch.equal(w, before)
