"""Bytes decoded as the statement says: no number may be off by more than half a scale."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st


def unpacked(packed):
    """Return the codes −8 … 7, element 2j from the low half of byte j."""
    nibbles = torch.stack([packed & 15, packed >> 4], dim=-1).flatten(-2).long()
    return torch.where(nibbles < 8, nibbles, nibbles - 16)


def check(quantize_int4, w, group):
    packed, scales = quantize_int4(w, group)
    O, I = w.shape
    wide = torch.promote_types(w.dtype, torch.float32)
    assert packed.dtype == torch.uint8 and packed.shape == (O, I // 2)
    assert scales.dtype == wide and scales.shape == (O, I // group)
    groups, codes = w.double().unflatten(1, (-1, group)), unpacked(packed).unflatten(1, (-1, group))
    largest = groups.abs().amax(-1)
    live = largest > 0
    torch.testing.assert_close(scales.double()[live], largest[live] / 7, rtol=1e-6, atol=0)
    assert scales.isfinite().all() and not codes[~live].any()
    assert codes.abs().max() <= 7 and (codes.abs().amax(-1) == 7)[live].all()
    scale = scales.double().unsqueeze(-1)
    assert ((groups - codes * scale).abs() <= 0.5001 * scale)[live].all()


def test_codes_of_whole_numbers(quantize_int4):
    w = torch.tensor([[7.0, 3.0, -3.0, 0.0, -7.0, 1.0, 2.0, -1.0]])
    packed, scales = quantize_int4(w, 8)
    assert scales.tolist() == [[1.0]]
    # 0011 and 0111, 0000 and 1101, 0001 and 1001, 1111 and 0010: the high half first
    assert packed.tolist() == [[0b00110111, 0b00001101, 0b00011001, 0b11110010]]


def test_the_low_half_comes_first(quantize_int4):
    assert quantize_int4(torch.tensor([[7.0, 0.0]]), 2)[0].tolist() == [[0x07]]
    assert quantize_int4(torch.tensor([[0.0, 7.0]]), 2)[0].tolist() == [[0x70]]
    assert quantize_int4(torch.tensor([[-7.0, 0.0]]), 2)[0].tolist() == [[0x09]]


@given(
    st.integers(1, 4),
    st.sampled_from([(2, 1), (2, 2), (6, 3), (10, 5), (8, 4), (64, 32), (12, 2), (128, 128)]),
    st.sampled_from([1e-20, 1e-3, 1.0, 1e4]),
    st.integers(0, 1000),
)
def test_no_number_is_off_by_more_than_half_a_scale(quantize_int4, O, sizes, size, seed):
    I, group = sizes
    generator = torch.Generator().manual_seed(seed)
    sizes = size * torch.rand(O, I // group, generator=generator)
    w = torch.randn(O, I, generator=generator) * sizes.repeat_interleave(group, dim=1)
    check(quantize_int4, w, group)
    check(quantize_int4, -w, group)


def test_groups_run_along_a_row(quantize_int4):
    w = torch.tensor([[1.0, 1.0, 100.0, 100.0], [10.0, 10.0, 0.1, 0.1]])
    torch.testing.assert_close(quantize_int4(w, 2)[1], torch.tensor([[1.0, 100.0], [10.0, 0.1]]) / 7)


def test_a_group_has_no_influence_on_another(quantize_int4):
    w = torch.randn(3, 12)
    packed, _ = quantize_int4(w, 4)
    w[1, 4:8] *= 1000
    others = torch.ones(3, 12, dtype=torch.bool)
    others[1, 4:8] = False
    assert torch.equal(unpacked(quantize_int4(w, 4)[0])[others], unpacked(packed)[others])


def test_codes_are_rounded_to_the_nearest_not_cut(quantize_int4):
    w = torch.tensor([[7.0, 2.9, -2.9, 0.6, -0.6, 0.4, -0.4, 6.4]])
    assert unpacked(quantize_int4(w, 8)[0]).tolist() == [[7, 3, -3, 1, -1, 0, 0, 6]]


def test_a_group_of_zeros(quantize_int4):
    w = torch.randn(2, 8)
    w[0, :4] = 0.0
    check(quantize_int4, w, 4)
    check(quantize_int4, torch.zeros(2, 6), 3)


def test_bad_shapes_are_refused(quantize_int4):
    for I, group in [(5, 5), (3, 1), (8, 3), (6, 4), (4, 8)]:
        with pytest.raises(ValueError):
            quantize_int4(torch.randn(2, I), group)


def test_16_bits_are_widened_before_anything_else(quantize_int4):
    for dtype in (torch.float16, torch.bfloat16):
        for size in (1.0, 1e-6, 3e4):
            w = (size * torch.rand(8, 32)).to(dtype)
            check(quantize_int4, w, 8)
            for actual, wide in zip(quantize_int4(w, 8), quantize_int4(w.float(), 8), strict=True):
                assert actual.dtype == wide.dtype and torch.equal(actual, wide)


def test_float64_keeps_float64_scales(quantize_int4):
    w = torch.randn(2, 8, dtype=torch.float64)
    check(quantize_int4, w, 4)
    torch.testing.assert_close(quantize_int4(w, 4)[1], w.unflatten(1, (-1, 4)).abs().amax(-1) / 7)


def test_strided_weights_stay_and_results_are_new(quantize_int4):
    for w in (torch.randn(8, 3).T, torch.randn(2, 16)[:, ::2], torch.randn(1, 8).expand(3, 8)):
        before = w.clone()
        check(quantize_int4, w, 4)
        for result in quantize_int4(w, 1):
            result.zero_()
        assert torch.equal(w, before)
