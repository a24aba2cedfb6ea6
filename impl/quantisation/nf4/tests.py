"""Bytes decoded by levels from Gaussian quantiles: every number must have the nearest one."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st


def quantile(p):
    """Return the Gaussian quantile of p, by bisection."""
    low, high = -10.0, 10.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if 0.5 * (1 + math.erf(middle / math.sqrt(2))) < p else (low, middle)
    return low


TOP = 0.9677083
POSITIVE = [quantile(TOP - i * (TOP - 0.5) / 8) / quantile(TOP) for i in range(8)]  # from 1 down
NEGATIVE = [-quantile(TOP - i * (TOP - 0.5) / 7) / quantile(TOP) for i in range(7)]  # from −1 up
LEVELS = torch.tensor([*NEGATIVE, 0.0, *reversed(POSITIVE)], dtype=torch.float64)


def unpacked(packed):
    """Return the codes 0 … 15, element 2j from the low half of byte j."""
    return torch.stack([packed & 15, packed >> 4], dim=-1).flatten(-2).long()


def check(nf4_quantize, w, block):
    packed, absmax = nf4_quantize(w, block)
    assert packed.dtype == torch.uint8 and packed.shape == (*w.shape[:-1], w.shape[-1] // 2)
    wide = torch.promote_types(w.dtype, torch.float32)
    blocks = w.to(wide).unflatten(-1, (-1, block))
    torch.testing.assert_close(absmax, blocks.abs().amax(-1), rtol=0, atol=0)
    codes = unpacked(packed).unflatten(-1, (-1, block))
    largest = absmax.double().unsqueeze(-1)
    normal = torch.where(largest == 0, 0.0, blocks.double() / largest)
    # Four digits of the levels suffice, which moves the middle between two by up to 5·10⁻⁵.
    nearest = (normal.unsqueeze(-1) - LEVELS).abs().amin(-1)
    assert ((normal - LEVELS[codes]).abs() <= nearest + 2e-4).all()
    assert (codes[normal == 0] == 7).all()


def test_the_levels_of_this_file_are_those_of_the_statement():
    rounded = [-1, -0.6962, -0.5251, -0.3949, -0.2844, -0.1848, -0.0911, 0]
    rounded += [0.0796, 0.1609, 0.2461, 0.3379, 0.4407, 0.5626, 0.7230, 1]
    torch.testing.assert_close(LEVELS, torch.tensor(rounded).double(), rtol=0, atol=6e-5)


def test_each_level_has_its_own_code(nf4_quantize):
    for size in (1.0, 0.03, 5e4):
        packed, absmax = nf4_quantize((size * LEVELS).float(), 16)
        assert unpacked(packed).tolist() == [*range(16)]
        torch.testing.assert_close(absmax, torch.tensor([size]))


def test_a_number_on_either_side_of_the_middle_of_two_levels(nf4_quantize):
    middle, gap = (LEVELS[1:] + LEVELS[:-1]) / 2, 2e-4
    below = torch.cat([torch.ones(1), (middle - gap).float()])
    above = torch.cat([torch.ones(1), (middle + gap).float()])
    assert unpacked(nf4_quantize(below, 16)[0]).tolist() == [15, *range(15)]
    assert unpacked(nf4_quantize(above, 16)[0]).tolist() == [15, *range(1, 16)]


def test_the_low_half_comes_first(nf4_quantize):
    assert nf4_quantize(torch.tensor([1.0, -1.0]), 2)[0].tolist() == [0x0F]
    assert nf4_quantize(torch.tensor([-1.0, 0.0]), 2)[0].tolist() == [0x70]


@given(
    st.sampled_from([(2,), (3, 12), (2, 3, 6), (1, 128)]),
    st.sampled_from([1, 2, 3, 6, 12, 64]),
    st.sampled_from([1e-20, 1e-3, 1.0, 1e4]),
    st.integers(0, 1000),
)
def test_every_number_has_the_nearest_level(nf4_quantize, shape, block, size, seed):
    block = block if shape[-1] % block == 0 else shape[-1]
    generator = torch.Generator().manual_seed(seed)
    check(nf4_quantize, size * torch.randn(shape, generator=generator), block)


def test_a_block_is_64_numbers_unless_said_otherwise(nf4_quantize):
    w = torch.randn(2, 192)
    packed, absmax = nf4_quantize(w)
    assert absmax.shape == (2, 3)
    assert torch.equal(packed, nf4_quantize(w, 64)[0])


def test_a_block_has_no_influence_on_another(nf4_quantize):
    w = torch.randn(2, 12)
    codes = unpacked(nf4_quantize(w, 3)[0])
    w[0, 3:6] *= 1000
    after = unpacked(nf4_quantize(w, 3)[0])
    assert torch.equal(after, codes)  # its own numbers grew alike, the others stayed


def test_zeros_have_code_7(nf4_quantize):
    w = torch.randn(2, 8)
    w[0, :4], w[1, 2] = 0.0, 0.0
    check(nf4_quantize, w, 4)
    packed, absmax = nf4_quantize(torch.zeros(2, 8), 4)
    assert (packed == 0x77).all() and not absmax.any()


def test_the_most_negative_number_is_at_minus_1(nf4_quantize):
    w = torch.tensor([-4.0, 1.0, 2.0, 0.0])
    packed, absmax = nf4_quantize(w, 4)
    assert absmax.tolist() == [4.0] and unpacked(packed)[0] == 0
    check(nf4_quantize, w, 4)


def test_16_bits_are_widened_before_anything_else(nf4_quantize):
    for dtype in (torch.float16, torch.bfloat16):
        for size in (1.0, 1e-6, 3e4):
            w = (size * (2 * torch.rand(16, 128) - 1)).to(dtype)
            check(nf4_quantize, w, 64)
            for actual, wide in zip(nf4_quantize(w), nf4_quantize(w.float()), strict=True):
                assert actual.dtype == wide.dtype and torch.equal(actual, wide)


def test_float64_keeps_a_float64_absmax(nf4_quantize):
    check(nf4_quantize, torch.randn(2, 64, dtype=torch.float64), 32)


def test_strided_weights_stay_and_results_are_new(nf4_quantize):
    for w in (torch.randn(8, 3).T, torch.randn(2, 16)[:, ::2], torch.randn(1, 8).expand(3, 8)):
        before = w.clone()
        check(nf4_quantize, w, 4)
        for result in nf4_quantize(w, 1):
            result.zero_()
        assert torch.equal(w, before)
