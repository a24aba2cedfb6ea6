"""The formula, one number at a time, and what must hold for the slopes of any number of heads."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def slopes(n_heads):
    P = 2 ** (n_heads.bit_length() - 1)
    first = [2 ** (-8 * i / P) for i in range(1, P + 1)]
    return first + [2 ** (-4 * (2 * j - 1) / P) for j in range(1, n_heads - P + 1)]


def visible(T, S):
    """Tell which keys each query sees; only these are judged."""
    return torch.ones(T, S, dtype=torch.bool).tril(S - T)


def assert_right(actual, n_heads, T, S):
    assert actual.shape == (n_heads, T, S) and actual.dtype == torch.float32
    for h, slope in enumerate(slopes(n_heads)):
        for i in range(T):
            here = i + S - T
            exact = torch.tensor([-slope * (here - j) for j in range(here + 1)])
            assert_close(actual[h, i, : here + 1], exact, rtol=1e-5, atol=1e-7)


@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 5))
def test_any_number_of_heads_queries_and_keys(alibi_bias, n_heads, T, past):
    assert_right(alibi_bias(n_heads, T, T + past), n_heads, T, T + past)


def test_eight_heads_halve_and_the_ninth_lies_between(alibi_bias):
    last_row = alibi_bias(9, 1, 2)[:, 0, 0]  # one step into the past
    assert_close(last_row, -torch.tensor([2.0**-i for i in range(1, 9)] + [2**-0.5]))


def test_a_single_head(alibi_bias):
    assert_close(alibi_bias(1, 1, 4)[0, 0], torch.tensor([-3.0, -2.0, -1.0, 0.0]) / 256)


def test_every_head_has_its_own_slope(alibi_bias):
    for n_heads in (2, 3, 5, 6, 7, 12, 16, 20, 24, 40, 71):
        found = alibi_bias(n_heads, 1, 2)[:, 0, 0]
        assert len(set(found.tolist())) == n_heads
        assert_close(found, -torch.tensor(slopes(n_heads)))


def test_the_own_key_has_no_bias_and_the_past_falls(alibi_bias):
    for T, S in ((1, 1), (4, 4), (2, 7)):
        bias = alibi_bias(6, T, S)
        for i in range(T):
            assert not bias[:, i, i + S - T].any()
            assert (bias[:, i, : i + S - T].diff() > 0).all()


def test_decoding_sees_the_last_rows_of_the_full_pass(alibi_bias):
    whole = alibi_bias(5, 9, 9)
    for T in (1, 2, 8):
        assert_close(alibi_bias(5, T, 9)[:, visible(T, 9)], whole[:, -T:][:, visible(T, 9)])


def test_large_distances_keep_their_digits(alibi_bias):
    bias = alibi_bias(12, 1, 5001)
    exact = -torch.tensor(slopes(12), dtype=torch.float64)[:, None] * torch.arange(5000, -1, -1)
    assert_close(bias[:, 0].double(), exact, rtol=1e-6, atol=0)


def test_results_are_new_every_time(alibi_bias):
    first = alibi_bias(4, 3, 5)
    kept = first.clone()
    first.zero_()
    second = alibi_bias(4, 3, 5)
    assert_close(second[:, visible(3, 5)], kept[:, visible(3, 5)], rtol=0, atol=0)
