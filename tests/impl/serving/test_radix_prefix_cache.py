"""Compare the radix cache with its definition, a dict from key and prefix to a block, over random calls."""

from __future__ import annotations

import random

import pytest

from tests.impl.conftest import IMPL, load

RadixCache = load(IMPL / "serving/radix-prefix-cache/reference.py").RadixCache


class Definition:
    def __init__(self, block):
        self.block, self.now, self.held, self.used, self.pins = block, 0, {}, {}, {}

    def prefixes(self, ids, key):
        return [(key, tuple(ids[:end])) for end in range(self.block, len(ids) + 1, self.block)]

    def cached(self, ids, key):
        prefixes = self.prefixes(ids, key)
        return [p for n, p in enumerate(prefixes) if all(q in self.held for q in prefixes[: n + 1])]

    def match(self, ids, key=None):
        self.now += 1
        found = self.cached(ids, key)
        self.used.update((p, self.now) for p in found)
        return len(found) * self.block, [self.held[p] for p in found]

    def insert(self, ids, blocks, key=None):
        self.now += 1
        held = [self.held.setdefault(p, b) for p, b in zip(self.prefixes(ids, key), blocks, strict=True)]
        self.used.update((p, self.now) for p in self.prefixes(ids, key))
        return [b for b, h in zip(blocks, held, strict=True) if b != h]

    def lock(self, ids, key=None, by=1):
        found = self.cached(ids, key)
        self.pins.update((p, self.pins.get(p, 0) + by) for p in found)
        return len(found) * self.block

    def unlock(self, ids, key=None):
        self.lock(ids, key, -1)

    def evict(self, n):
        out = []
        for _ in range(n):
            inner = {(key, ids[: -self.block]) for key, ids in self.held}
            free = [p for p in self.held if p not in inner and not self.pins.get(p)]
            out += [self.held.pop(min(free, key=self.used.__getitem__))] if free else []
        return out


@pytest.mark.parametrize("seed", range(60))
def test_it_is_a_dict_of_prefixes(seed):
    draw, block = random.Random(seed), 1 + seed % 3
    cache, due, locked, fresh = RadixCache(block), Definition(block), [], iter(range(10**6))
    for _ in range(40):
        ids, key = [draw.randrange(2) for _ in range(draw.randrange(9))], draw.choice([None, "adapter"])
        name = draw.choice(["match", "insert", "insert", "lock", "unlock", "evict"])
        if name == "insert":
            args = (ids, [next(fresh) for _ in range(len(ids) // block)], key)
        elif name == "evict":
            args = (draw.randrange(3),)
        elif name == "unlock":
            if not locked:
                continue
            args = locked.pop(draw.randrange(len(locked)))
        else:
            args = (ids, key)
        got = getattr(cache, name)(*args)
        assert got == getattr(due, name)(*args)
        if name == "lock":
            locked.append((ids[:got], key))
