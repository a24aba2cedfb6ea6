"""The formula in plain Python, one entry at a time, and the law of clock hands: a shift turns each by a fixed angle."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(T, D, base=10000.0, offset=0):
    table = torch.empty(T, D, dtype=torch.float64)
    for r in range(T):
        for column in range(D):
            phase = (offset + r) * base ** (-2 * (column // 2) / D)
            table[r, column] = math.cos(phase) if column % 2 else math.sin(phase)
    return table


def assert_right(actual, *arguments):
    exact = expected(*arguments)
    assert actual.dtype == torch.float32 and actual.shape == exact.shape
    assert_close(actual.double(), exact, rtol=0, atol=2e-4)


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from([1.5, 100.0, 1e4, 1e6]), st.integers(0, 900))
def test_any_shape_base_and_offset(sinusoidal_pe, T, D, base, offset):
    assert_right(sinusoidal_pe(T, D, base, offset), T, D, base, offset)


def test_base_ten_thousand_and_no_offset_by_default(sinusoidal_pe):
    assert_right(sinusoidal_pe(40, 16), 40, 16, 10000.0, 0)


def test_position_zero_is_zeros_and_ones_side_by_side(sinusoidal_pe):
    assert_close(sinusoidal_pe(1, 6), torch.tensor([[0.0, 1.0, 0.0, 1.0, 0.0, 1.0]]))


def test_an_odd_width_ends_with_a_sine(sinusoidal_pe):
    for D in (1, 3, 7):
        assert_right(sinusoidal_pe(5, D, 100.0), 5, D, 100.0)
    assert_close(sinusoidal_pe(4, 1)[:, 0], torch.arange(4.0).sin())


def test_sine_and_cosine_share_a_phase(sinusoidal_pe):
    table = sinusoidal_pe(50, 8).unflatten(-1, (4, 2))
    assert_close(table.norm(dim=-1), torch.ones(50, 4))


def test_the_offset_shifts_the_rows(sinusoidal_pe):
    whole = sinusoidal_pe(30, 7)
    for offset in (1, 12, 29):
        assert_close(sinusoidal_pe(30 - offset, 7, offset=offset), whole[offset:], rtol=0, atol=2e-4)


def test_a_shift_turns_every_pair_by_a_fixed_angle(sinusoidal_pe):
    table, shift = sinusoidal_pe(40, 8), 5
    sin, cos = table[:, 0::2], table[:, 1::2]
    angle = shift * torch.tensor([10000.0 ** (-2 * i / 8) for i in range(4)])
    assert_close(sin[:-shift] * angle.cos() + cos[:-shift] * angle.sin(), sin[shift:], rtol=0, atol=1e-3)


def test_the_first_pair_turns_by_one_and_the_last_almost_by_one_over_base(sinusoidal_pe):
    row = sinusoidal_pe(2, 512)[1]
    assert_close(row[0], torch.tensor(1.0).sin())
    assert_close(row[510].double(), torch.tensor(math.sin(10000 ** (-510 / 512))).double(), rtol=1e-4, atol=0)


def test_far_positions_keep_their_accuracy(sinusoidal_pe):
    for offset in (100_000, 1_000_000, 20_000_000):  # from 2²⁴ on float32 skips positions
        assert_right(sinusoidal_pe(3, 64, 10000.0, offset), 3, 64, 10000.0, offset)


def test_results_are_new_every_time(sinusoidal_pe):
    first = sinusoidal_pe(5, 6)
    kept = first.clone()
    first.zero_()
    assert torch.equal(sinusoidal_pe(5, 6), kept)
