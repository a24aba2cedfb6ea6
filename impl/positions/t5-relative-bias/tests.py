"""The formula in plain Python, one distance at a time, and what buckets promise: order, sides, none left out."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st

FAR = torch.arange(-600, 601)


def bucket(relative_position, bidirectional, num_buckets=32, max_distance=128):
    """Return the bucket, None where rounding decides: the logarithmic term is an integer there."""
    if bidirectional:
        N, n = num_buckets // 2, abs(relative_position)
        first = N if relative_position > 0 else 0
    else:
        N, n, first = num_buckets, max(-relative_position, 0), 0
    e = N // 2
    if n <= e:
        return first + n
    term = (N - e) * math.log(n / e) / math.log(max_distance / e)
    if abs(term - round(term)) < 1e-4:
        return None
    return first + min(N - 1, e + math.floor(term))


def assert_right(actual, relative_position, *settings):
    assert actual.shape == relative_position.shape and actual.dtype == torch.int64
    for found, offset in zip(actual.flatten().tolist(), relative_position.flatten().tolist(), strict=True):
        exact = bucket(offset, *settings)
        assert exact is None or found == exact, f"{offset}: {found}, expected {exact}"


@given(st.booleans(), st.integers(2, 40), st.integers(1, 300), st.integers(0, 3))
def test_any_number_of_buckets_and_any_distance(t5_bucket, bidirectional, half, more, dims):
    num_buckets = 2 * half
    e = (half if bidirectional else num_buckets) // 2
    settings = (bidirectional, num_buckets, e + more)
    relative_position = torch.randint(-400, 400, (2, 3, 4)[:dims])
    assert_right(t5_bucket(relative_position, *settings), relative_position, *settings)


def test_32_buckets_up_to_128_by_default(t5_bucket):
    for bidirectional in (True, False):
        assert_right(t5_bucket(FAR, bidirectional), FAR, bidirectional, 32, 128)


def test_other_settings_over_all_distances(t5_bucket):
    for bidirectional in (True, False):
        for settings in ((8, 20), (32, 50), (64, 1000), (10, 6), (4, 3)):
            assert_right(t5_bucket(FAR, bidirectional, *settings), FAR, bidirectional, *settings)


def test_small_distances_have_a_bucket_of_their_own(t5_bucket):
    near = torch.arange(16)
    assert torch.equal(t5_bucket(-near, False), near)
    assert torch.equal(t5_bucket(-near[:8], True), near[:8])
    assert torch.equal(t5_bucket(near[1:8], True), 16 + near[1:8])


def test_later_keys_count_as_distance_zero_when_causal(t5_bucket):
    assert not t5_bucket(torch.arange(0, 1000), False).any()


def test_the_sides_mirror_each_other(t5_bucket):
    n = torch.arange(1, 500)
    assert torch.equal(t5_bucket(n, True), t5_bucket(-n, True) + 16)
    assert t5_bucket(torch.tensor(0), True) == 0


def test_buckets_grow_with_the_distance_and_are_all_used(t5_bucket):
    n = torch.arange(0, 1000)
    for found, count in ((t5_bucket(-n, False), 32), (t5_bucket(-n, True), 16)):
        assert (found.diff() >= 0).all() and found.unique().tolist() == list(range(count))


def test_everything_beyond_the_largest_distance_shares_the_last_bucket(t5_bucket):
    beyond = torch.tensor([129, 10**4, 10**9])
    assert t5_bucket(-beyond, False).tolist() == [31] * 3
    assert t5_bucket(-beyond, True).tolist() == [15] * 3
    assert t5_bucket(beyond, True).tolist() == [31] * 3


def test_any_memory_layout(t5_bucket):
    square = torch.arange(6) - torch.arange(0, 60, 10)[:, None]
    for relative_position in (square.T, square[::2, ::3], torch.tensor(-40).expand(2, 3)):
        for bidirectional in (True, False):
            assert_right(t5_bucket(relative_position, bidirectional), relative_position, bidirectional)


def test_device_arguments_and_memory(t5_bucket):
    for bidirectional in (True, False):
        assert t5_bucket(FAR.to("meta"), bidirectional).device.type == "meta"
        relative_position = -torch.arange(4)  # buckets of their own: the result has these values, in other memory
        before = relative_position.clone()
        result = t5_bucket(relative_position, bidirectional)
        kept = result.clone()
        assert torch.equal(relative_position, before)
        relative_position.fill_(-100)
        assert torch.equal(result, kept)
        assert torch.equal(t5_bucket(before, bidirectional), kept)
