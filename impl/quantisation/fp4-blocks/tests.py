"""Codes decoded by the scales that come with them: each level must be the nearest, and each scale its block's."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st

LEVELS = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64)


def unpacked(codes):
    """Return the codes 0 … 15, element 2j from the low half of byte j."""
    return torch.stack([codes & 15, codes >> 4], dim=-1).flatten(-2).long()


def nvfp4(quantize_nvfp4, x):
    """Quantise; return the codes and each element's scale in float64."""
    codes, scales, g = quantize_nvfp4(x)
    assert codes.dtype == torch.uint8 and codes.shape == (*x.shape[:-1], x.shape[-1] // 2)
    assert scales.dtype == torch.float8_e4m3fn and scales.shape == (*x.shape[:-1], x.shape[-1] // 16)
    assert g.dtype == torch.float32 and g.shape == ()
    return unpacked(codes), scales.double().repeat_interleave(16, dim=-1) * g.double()


def mxfp4(quantize_mxfp4, x):
    codes, exponents = quantize_mxfp4(x)
    assert codes.dtype == exponents.dtype == torch.uint8
    assert codes.shape == (*x.shape[:-1], x.shape[-1] // 2) and exponents.shape == (*x.shape[:-1], x.shape[-1] // 32)
    return unpacked(codes), 2.0 ** (exponents.double() - 127).repeat_interleave(32, dim=-1)


def check_nearest(x, codes, scale):
    """Each number must have the sign and the nearest level; ties are tested elsewhere."""
    y = torch.where(scale == 0, 0.0, x.double() / scale)
    level = torch.where(scale == 0, 0.0, LEVELS[codes % 8])
    nearest = (y.abs().unsqueeze(-1) - LEVELS).abs().amin(-1)
    assert ((y.abs() - level).abs() <= nearest + 1e-5 * (1 + y.abs())).all()
    assert ((codes >= 8) == (x < 0))[level > 0].all()


def data(*shape, seed=0):
    """Make blocks of very different sizes."""
    generator = torch.Generator().manual_seed(seed)
    sizes = 10.0 ** (4 * torch.rand(shape[-1] // 16, generator=generator) - 2)
    return torch.randn(shape, generator=generator) * sizes.repeat_interleave(16)


@given(st.sampled_from([(16,), (3, 64), (2, 2, 32)]), st.sampled_from([1e-28, 1e-3, 1.0, 1e28]), st.integers(0, 1000))
def test_nvfp4(quantize_nvfp4, shape, size, seed):
    x = size * data(*shape, seed=seed)
    _, scales, g = quantize_nvfp4(x)
    torch.testing.assert_close(g.double(), x.abs().max().double() / (6 * 448), rtol=1e-6, atol=0)
    exact = x.double().unflatten(-1, (-1, 16)).abs().amax(-1) / (6 * g.double())
    e4m3 = torch.arange(127, dtype=torch.uint8).view(torch.float8_e4m3fn).double()  # 0 … 448
    nearest = (exact.unsqueeze(-1) - e4m3).abs().amin(-1)
    assert ((scales.double() - exact).abs() <= nearest + 1e-5 * exact).all()
    check_nearest(x, *nvfp4(quantize_nvfp4, x))


@given(st.sampled_from([(32,), (3, 64), (2, 2, 96)]), st.sampled_from([1e-28, 1e-3, 1.0, 1e28]), st.integers(0, 1000))
def test_mxfp4(quantize_mxfp4, shape, size, seed):
    x = size * data(*shape, seed=seed)
    _, exponents = quantize_mxfp4(x)
    largest = x.double().unflatten(-1, (-1, 32)).abs().amax(-1)
    assert torch.equal(exponents.double() - 127, largest.log2().floor() - 2)
    check_nearest(x, *mxfp4(quantize_mxfp4, x))


def test_ties_go_to_the_even_index(quantize_nvfp4, quantize_mxfp4):
    ties, even = [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0], [0, 2, 2, 4, 4, 6, 6]
    x = torch.tensor([6.0, *ties, *(-tie for tie in ties)] + [0.0] * 17)
    expected = [7, *even, *(8 + i for i in even)]
    codes, _ = mxfp4(quantize_mxfp4, x)
    assert [code % 8 for code in codes[:15].tolist()] == [7, *even, *even] and codes[3:15].tolist() == expected[3:]
    # The largest number makes g = 1; then 6 makes s = 1.
    x[16:] = torch.tensor([6.0 * 448] + [0.0] * 15)
    codes, scale = nvfp4(quantize_nvfp4, x)
    assert scale[0] == 1 and [code % 8 for code in codes[:15].tolist()] == [7, *even, *even]


def test_a_low_and_a_high_half(quantize_mxfp4):
    x = torch.zeros(32)
    x[0], x[1], x[31] = 6.0, -1.0, 4.0
    codes, exponents = quantize_mxfp4(x)
    assert codes[0] == 7 + 16 * (8 + 2) and codes[15] == 16 * 6 and exponents.tolist() == [127]


def test_nvfp4_codes_rest_on_the_rounded_scale(quantize_nvfp4):
    # A scale that E4M3 has to round moves some numbers across a midpoint.
    x = torch.linspace(-1, 1, 1600).reshape(-1, 16) * torch.linspace(0.5, 1, 100).unsqueeze(1)
    check_nearest(x, *nvfp4(quantize_nvfp4, x))


def test_numbers_beyond_6_are_cut(quantize_mxfp4):
    x = torch.linspace(-7.99, 7.99, 32)
    codes, scale = mxfp4(quantize_mxfp4, x)
    assert (scale == 1).all() and codes[0] == 15 and codes[-1] == 7
    check_nearest(x, codes, scale)


def test_a_maximum_just_below_a_power_of_two(quantize_mxfp4):
    for power in (-90, -1, 0, 1, 20, 90):
        x = torch.zeros(2, 32)
        x[:, 3] = torch.tensor([2.0**power, math.ldexp(1 - 2**-24, power)])  # the largest float32 below
        assert quantize_mxfp4(x)[1].flatten().tolist() == [power - 2 + 127, power - 3 + 127]


def test_zeros_decode_to_zeros(quantize_nvfp4, quantize_mxfp4):
    for x in (torch.zeros(2, 32), torch.cat([torch.zeros(32), torch.randn(32)])):
        for codes, scale in (nvfp4(quantize_nvfp4, x), mxfp4(quantize_mxfp4, x)):
            decoded = LEVELS[codes % 8] * scale
            assert decoded.isfinite().all() and not decoded[x == 0].any()


def test_a_block_too_small_for_a_scale_decodes_to_zeros(quantize_nvfp4):
    x = torch.cat([torch.full((16,), 1e6), torch.full((16,), 1e-3)])
    codes, scale = nvfp4(quantize_nvfp4, x)
    assert not scale[16:].any()
    check_nearest(x, codes, scale)


def test_16_bits_are_widened_first(quantize_nvfp4, quantize_mxfp4):
    for dtype in (torch.float16, torch.bfloat16):
        x = data(4, 64).to(dtype)
        for quantise in (quantize_nvfp4, quantize_mxfp4):
            for actual, wide in zip(quantise(x), quantise(x.float()), strict=True):
                assert actual.dtype == wide.dtype and torch.equal(actual.float(), wide.float())


def test_strided_inputs_stay_as_they_are(quantize_nvfp4, quantize_mxfp4):
    for x in (torch.randn(64, 3).T, torch.randn(2, 128)[:, ::2], torch.randn(1, 64).expand(3, 64)):
        before = x.clone()
        for quantise in (quantize_nvfp4, quantize_mxfp4):
            for actual, expected in zip(quantise(x), quantise(x.contiguous()), strict=True):
                assert torch.equal(actual.float(), expected.float())
        assert torch.equal(x, before)
