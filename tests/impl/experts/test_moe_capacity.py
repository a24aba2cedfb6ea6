"""Compare expert capacity with queues that are filled one choice at a time, and check its law."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import pytest
import torch

from ..conftest import IMPL, load

dispatch_with_capacity = load(IMPL / "experts/moe-capacity/reference.py").dispatch_with_capacity


@pytest.mark.parametrize("quarters", [1, 3, 4, 5, 8])
@pytest.mark.parametrize(("N", "E", "k"), [(1, 1, 1), (7, 4, 2), (12, 3, 1), (5, 6, 6)])
def test_queues_are_filled_in_the_order_of_the_tokens(N: int, E: int, k: int, quarters: int) -> None:
    idx = (torch.rand(N, E) + torch.arange(E) / E).argsort(-1)[:, :k]
    capacity = ceil(Fraction(quarters * N * k, 4 * E))
    queues: dict[int, int] = {}
    due = []
    for expert in idx.flatten().tolist():
        place = queues.get(expert, 0)
        due.append(place if place < capacity else -1)
        queues[expert] = place + 1
    slot, keep = dispatch_with_capacity(idx, E, quarters / 4)
    assert slot.flatten().tolist() == due and torch.equal(keep, slot >= 0)
    for expert in range(E):
        kept = slot[(idx == expert) & keep].tolist()
        assert kept == list(range(len(kept))) and len(kept) <= capacity
