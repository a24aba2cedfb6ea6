"""Plain softmax attention in float64 as the oracle, the same result for any number of splits, and parts that differ by hundreds."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(q, k, v):
    q, k, v = q.double(), k.double(), v.double()
    share = q.shape[1] // k.shape[1]  # heads of a group are neighbours
    k, v = k.repeat_interleave(share, dim=1), v.repeat_interleave(share, dim=1)
    scores = (k @ q[..., None])[..., 0] / q.shape[-1] ** 0.5
    return (torch.softmax(scores, dim=-1)[..., None] * v).sum(dim=-2)


def drawn(B=2, H=4, G=2, S=20, d=8, dtype=torch.float32):
    return [torch.randn(shape).to(dtype) for shape in ((B, H, d), (B, G, S, d), (B, G, S, d))]


def assert_right(flash_decode, q, k, v, splits, tolerance=2e-5):
    actual = flash_decode(q, k, v, splits)
    assert actual.shape == q.shape and actual.dtype == q.dtype
    rounding = 2 * torch.finfo(q.dtype).eps if q.dtype == torch.float16 else 0.0
    close = tolerance + rounding
    assert_close(actual.double(), expected(q, k, v), rtol=close, atol=close * max(1.0, v.abs().max().item()))


@settings(max_examples=15)
@given(
    st.integers(1, 2), st.integers(1, 3), st.integers(1, 3), st.integers(1, 40), st.integers(1, 20), st.integers(1, 6)
)
def test_any_shape_and_any_split(flash_decode, B, G, share, S, d, splits):
    assert_right(flash_decode, *drawn(B, G * share, G, S, d), splits)


def test_the_number_of_splits_has_no_influence(flash_decode):
    q, k, v = drawn(S=37)
    one = flash_decode(q, k, v, 1)
    for splits in (2, 3, 4, 5, 8, 16, 36, 37):
        assert_close(flash_decode(q, k, v, splits), one, rtol=1e-5, atol=1e-5)


def test_more_splits_than_keys(flash_decode):
    for S, splits in ((1, 2), (1, 9), (3, 16), (5, 7), (9, 33)):
        assert_right(flash_decode, *drawn(S=S), splits)


def test_long_caches(flash_decode):
    for S, splits in ((200, 3), (257, 4), (130, 1)):
        assert_right(flash_decode, *drawn(1, 2, 1, S, 8), splits)


def test_heads_of_a_group_are_neighbours(flash_decode):
    for H, G in ((1, 1), (6, 6), (6, 2), (6, 1), (20, 1)):
        assert_right(flash_decode, *drawn(1, H, G), 3)


def test_a_single_key_gives_its_value(flash_decode):
    q, k, v = drawn(S=1)
    assert_close(flash_decode(q, k, v, 3), v[:, :, 0].repeat_interleave(2, dim=1))


def test_equal_keys_give_the_mean_of_the_values(flash_decode):
    q, k, v = drawn(S=37)
    mean = v.mean(dim=2).repeat_interleave(2, dim=1)
    for splits in (1, 5, 8):  # the parts have different numbers of keys
        assert_close(flash_decode(q, k[:, :, :1].expand(k.shape), v, splits), mean, rtol=1e-5, atol=1e-5)


def test_the_order_of_the_keys_has_no_influence(flash_decode):
    q, k, v = drawn(S=37)
    order = torch.randperm(37)
    assert_close(flash_decode(q, k[:, :, order], v[:, :, order], 4), flash_decode(q, k, v, 4), rtol=1e-5, atol=1e-5)


def test_scores_of_a_thousand_and_parts_that_differ_by_hundreds(flash_decode):
    for S in (37, 200):
        q, k, v = torch.ones(1, 2, 4), torch.zeros(1, 1, S, 4), torch.randn(1, 1, S, 4)
        for lowest, highest in ((-1000, 1000), (-1000, -900), (900, 1000), (-5, 5)):
            scores = torch.linspace(lowest, highest, S)
            for order in (scores, scores.flip(0)):
                k[0, 0, :, 0] = 2 * order  # over √d
                for splits in (1, 3, 5):
                    assert_right(flash_decode, q, k, v, splits, tolerance=2e-4)


def test_float16_is_summed_in_float32(flash_decode):
    for S, splits in ((37, 4), (200, 3)):
        assert_right(flash_decode, *drawn(S=S, dtype=torch.float16), splits)
    q, k, _ = drawn(1, 2, 1, 400, dtype=torch.float16)
    v = (5 + torch.rand(1, 1, 400, 8)).half()
    for splits in (1, 7):
        actual, exact = flash_decode(0 * q, k, v, splits), expected(0 * q, k, v)
        assert_close(actual.double(), exact, rtol=1e-3, atol=0.0)


def test_a_float16_result_is_rounded_once(flash_decode):
    for splits in (1, 7):
        q, k, v = drawn(1, 4, 2, 150, 16, dtype=torch.float16)
        actual, exact = flash_decode(3 * q, k, v, splits), expected(3 * q, k, v)
        # Half a unit in the last place, and a little for float32.
        assert_close(actual.double(), exact, rtol=0.51 * torch.finfo(torch.float16).eps, atol=1e-5)


def test_views(flash_decode):
    q, k = torch.randn(8, 4, 2).permute(2, 1, 0), torch.randn(2, 20, 2, 8).transpose(1, 2)
    v = torch.randn(2, 2, 40, 16)[:, :, ::2, ::2]
    assert_right(flash_decode, q, k, v, 3)
    assert_right(flash_decode, q[:1].expand(2, 4, 8), v, k[:, :1].expand(2, 2, 20, 8), 3)


def test_the_elements_around_a_view_have_no_influence(flash_decode):
    k, v = torch.full((2, 2, 64, 8), float("nan")), torch.full((2, 2, 64, 8), float("nan"))
    k[:, :, :20], v[:, :, :20] = torch.randn(2, 2, 20, 8), torch.randn(2, 2, 20, 8)
    assert_right(flash_decode, torch.randn(2, 4, 8), k[:, :, :20], v[:, :, :20], 3)


def test_arguments_stay_as_they_are(flash_decode):
    arguments = drawn()
    before = [argument.clone() for argument in arguments]
    first = flash_decode(*arguments, 3)
    assert all(map(torch.equal, arguments, before)) and torch.equal(flash_decode(*arguments, 3), first)
