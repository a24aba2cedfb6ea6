"""Compare T5's buckets with a loop over single numbers, and with known facts of the usual table."""

import math

import pytest
import torch

from ..conftest import IMPL, load

t5_bucket = load(IMPL / "positions/t5-relative-bias/reference.py").t5_bucket


def one(offset: int, bidirectional: bool, num_buckets: int, max_distance: int) -> int:
    N = num_buckets // 2 if bidirectional else num_buckets
    n, e = abs(offset) if bidirectional else max(-offset, 0), N // 2
    side = N if bidirectional and offset > 0 else 0
    if n < e:
        return side + n
    return side + min(N - 1, e + math.floor((N - e) * math.log(n / e) / math.log(max_distance / e)))


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize(("num_buckets", "max_distance"), [(32, 128), (8, 20), (64, 300), (4, 9)])
def test_every_offset_is_in_the_bucket_of_its_formula(bidirectional: bool, num_buckets: int, max_distance: int) -> None:
    offsets = torch.arange(-400, 401)
    due = [one(int(offset), bidirectional, num_buckets, max_distance) for offset in offsets]
    assert t5_bucket(offsets, bidirectional, num_buckets, max_distance).tolist() == due


def test_the_usual_table_of_a_decoder() -> None:
    past = -torch.tensor([0, 15, 16, 17, 18, 19, 64, 112, 113, 10**6])
    assert t5_bucket(past, False).tolist() == [0, 15, 16, 16, 16, 17, 26, 30, 31, 31]
    assert t5_bucket(torch.tensor(5), False).item() == 0


@pytest.mark.parametrize("shape", [(), (3,), (2, 3, 4)])
def test_later_keys_have_the_upper_half_of_the_encoders_table(shape: tuple[int, ...]) -> None:
    offsets = torch.randint(1, 300, shape)
    assert torch.equal(t5_bucket(offsets, True), t5_bucket(-offsets, True) + 16)
