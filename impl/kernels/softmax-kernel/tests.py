"""torch's softmax in float64 as the oracle, rows around the sizes of blocks, and entries that overflow exp or add nothing."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

LENGTHS = (1, 2, 31, 33, 127, 128, 129, 1000, 1023, 1024, 1025, 2047, 2049, 3000)
INF = float("inf")


def assert_right(softmax, x):
    actual = softmax(x)
    assert actual.shape == x.shape and actual.dtype == x.dtype
    exact = torch.softmax(x.double(), dim=-1)
    # 16 bits: half a unit in the last place, and half the smallest number.
    rounding = 0.5 * torch.finfo(x.dtype).eps if x.dtype == torch.float16 else 0.0
    assert_close(actual.double(), exact, rtol=1e-5 + rounding, atol=1e-7)


@settings(max_examples=20)
@given(st.lists(st.integers(1, 3), max_size=3), st.integers(1, 40))
def test_any_shape(softmax, leading, n):
    assert_right(softmax, 3 * torch.randn(*leading, n))


def test_rows_of_any_length(softmax):
    for n in LENGTHS:
        assert_right(softmax, 3 * torch.randn(3, n))


def test_any_number_of_rows(softmax):
    for rows in (1, 7, 8, 9, 17, 37):
        assert_right(softmax, torch.randn(rows, 5))


def test_equal_entries_share_alike(softmax):
    for n in LENGTHS:
        for value in (0.0, -1e4, 1e4):
            assert_close(softmax(torch.full((n,), value)), torch.full((n,), 1 / n))


def test_a_shift_of_a_row_has_no_influence(softmax):
    x = torch.randint(-8, 8, (3, 100)).float()
    assert_close(softmax(x + 1000), softmax(x))
    assert_close(softmax(x - 1000), softmax(x))


def test_large_entries_in_any_order(softmax):
    for n in (5, 100, 3000):
        rising = torch.linspace(-1e4, 1e4, n)
        assert_right(softmax, torch.stack([rising, rising.flip(0), rising[torch.randperm(n)]]))
        assert_right(softmax, torch.stack([rising, rising.flip(0)]) / 500)


def test_a_maximum_anywhere_rescales_what_came_before(softmax):
    for place in (0, 1, 1023, 1024, 2047, 2999):
        x = torch.randn(1, 3000)
        x[0, place] = 9.0
        assert_right(softmax, x)


def test_an_entry_of_minus_infinity_gets_exactly_0(softmax):
    for n in (7, 3000):
        x = torch.randn(4, n)
        x[0, ::2], x[1, 1:], x[2, : n // 2], x[3, -1] = -INF, -INF, -INF, -INF
        assert_right(softmax, x)
        assert not softmax(x)[x == -INF].any()


def test_whole_blocks_of_minus_infinity(softmax):
    x = torch.randn(2, 3000)
    x[0, :2500], x[1, 10:] = -INF, -INF
    assert_right(softmax, x)


def test_a_row_of_minus_infinity_becomes_zeros(softmax):
    for n in (1, 7, 3000):
        x = torch.randn(3, n)
        x[1] = -INF
        actual = softmax(x)
        assert not actual[1].any()
        assert_close(actual[::2], torch.softmax(x[::2], dim=-1))


def test_16_bits_are_rounded_once(softmax):
    for n in (7, 3000):
        assert_right(softmax, torch.randn(3, n).to(torch.float16))
        assert_right(softmax, torch.zeros(1, n).to(torch.float16))


def test_views(softmax):
    assert_right(softmax, torch.randn(9, 5).T)
    assert_right(softmax, torch.randn(5, 18)[:, ::2])
    assert_right(softmax, torch.randn(1, 9).expand(5, 9))
    assert_right(softmax, torch.randn(2, 3, 9).transpose(0, 1))


def test_the_elements_around_a_view_have_no_influence(softmax):
    for value in (float("nan"), 1e4):
        x = torch.full((1000,), value)
        x[100:165] = torch.randn(65)
        assert_right(softmax, x[100:165].view(5, 13))


def test_the_argument_stays_as_it_is(softmax):
    x = torch.randn(5, 9)
    before = x.clone()
    first = softmax(x)
    assert torch.equal(x, before) and torch.equal(softmax(x), first)
