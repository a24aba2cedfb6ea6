"""kv-cache-prealloc: compare with a dict of slots, over random updates."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ..conftest import IMPL, load

StaticKVCache = load(IMPL / "cache/kv-cache-prealloc/reference.py").StaticKVCache
MAX_LEN = 5


@settings(deadline=None, derandomize=True, database=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 3), st.lists(st.integers(0, 5), min_size=2, max_size=2)), max_size=6))
def test_it_is_a_dict_of_slots(updates: list[tuple[int, list[int]]]) -> None:
    cache, slots, number = StaticKVCache(2, 1, MAX_LEN, 1), {}, 0
    for n, pos in updates:
        k = torch.arange(number, number + 2 * n, dtype=torch.float32).reshape(2, 1, n, 1) + 1
        number += 2 * n
        if max(pos) + n > MAX_LEN:
            with pytest.raises(ValueError, match="slots are needed, the cache has 5"):
                cache.update(k, -k, torch.tensor(pos))
            continue
        K, V = cache.update(k, -k, torch.tensor(pos))
        slots.update({(b, pos[b] + j): k[b, 0, j, 0].item() for b in range(2) for j in range(n)})
        expected = [[slots.get((b, j), 0.0) for j in range(max(pos) + n)] for b in range(2)]
        assert K[:, 0, :, 0].tolist() == expected
        assert torch.equal(V, -K)


def test_later_updates_show_through_and_no_argument_is_kept() -> None:
    cache, k = StaticKVCache(1, 2, 3, 4, torch.bfloat16), torch.full((1, 2, 1, 4), 1 / 3)
    first, _ = cache.update(k, k, torch.tensor([0]))
    assert first.dtype == torch.bfloat16 and torch.equal(first, k.bfloat16())
    cache.update(k + 1, k, torch.tensor([0]))
    assert torch.equal(first, (k + 1).bfloat16()) and torch.equal(k, torch.full((1, 2, 1, 4), 1 / 3))
