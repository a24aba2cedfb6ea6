"""Offsets on both sides, of every rank, from 0 to far beyond the last bucket; numbers of buckets that are no powers of two."""

from __future__ import annotations

import math

import torch

SIZES = {"n": (1, 20, 400)}
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"]}
GRADIENTS = False
_TABLES = [
    (True, 32, 128),
    (False, 32, 128),
    (True, 12, 20),
    (False, 7, 15),
    (True, 4, 9),
    (False, 2, 40),
    (False, 64, 300),
]


def clear(offsets, bidirectional, num_buckets, max_distance):
    """The offsets, but 0 for those whose logarithmic term is nearly an integer: both roundings would be sound."""
    N = num_buckets // 2 if bidirectional else num_buckets
    e, n = N // 2, offsets.abs().double()
    term = (N - e) * (n.clamp(min=e) / e).log() / math.log(max_distance / e)
    open_to_doubt = (n > e) & (n < max_distance) & ((term - term.round()).abs() < 1e-4)
    return offsets.masked_fill(open_to_doubt, 0)


def ask(make, offsets, bidirectional, num_buckets, max_distance):
    offsets = clear(offsets, bidirectional, num_buckets, max_distance)
    make.call("t5_bucket", offsets, bidirectional, num_buckets=num_buckets, max_distance=max_distance)


def case(make):
    shape, table = (*make.lead(), make.size("n")), make.pick(_TABLES)
    reach = make.pick([2, 1, 8]) * table[2]
    ask(make, make.integers(-reach, reach + 1, *shape), *table)


def edge_every_offset(make):
    """every offset from −300 to 300, with the usual buckets and with few

    从 −300 到 300 的每个偏移，桶数取默认值，也取很少
    """
    for table in _TABLES:
        ask(make, torch.arange(-300, 301), *table)


def edge_a_whole_table(make):
    """key − query for 5 queries and 7 keys, and a single offset

    5 个 query、7 个 key 的 key − query，以及单独一个偏移
    """
    for bidirectional in (True, False):
        ask(make, torch.arange(7) - torch.arange(5)[:, None], bidirectional, 8, 16)
        for offset in (0, 1, -1, -5):
            ask(make, torch.tensor(offset), bidirectional, 8, 16)


def edge_far_beyond(make):
    """offsets of thousands and millions share the last bucket

    几千、几百万的偏移都在最后一个桶
    """
    offsets = torch.tensor([[1000, -1000, 70_000], [-70_000, 5_000_000, -5_000_000]])
    for table in _TABLES:
        ask(make, offsets, *table)
