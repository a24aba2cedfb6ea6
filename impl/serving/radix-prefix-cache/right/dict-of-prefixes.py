"""A dict from key and prefix to what is known of it: the definition, word by word."""

from dataclasses import dataclass


@dataclass
class Entry:
    number: int
    used: int
    pins: int = 0


class RadixCache:
    def __init__(self, block):
        self.block, self.now, self.entries = block, 0, {}

    def _cached(self, ids, key):
        found = []
        for end in range(self.block, len(ids) + 1, self.block):
            entry = self.entries.get((key, tuple(ids[:end])))
            if entry is None:
                break
            found.append(entry)
        return found

    def match(self, ids, key=None):
        self.now += 1
        found = self._cached(ids, key)
        for entry in found:
            entry.used = self.now
        return self.block * len(found), [entry.number for entry in found]

    def insert(self, ids, blocks, key=None):
        self.now += 1
        back = []
        for i, number in enumerate(blocks, 1):
            entry = self.entries.setdefault((key, tuple(ids[: i * self.block])), Entry(number, self.now))
            entry.used = self.now
            back += [number] * (entry.number != number)
        return back

    def lock(self, ids, key=None):
        found = self._cached(ids, key)
        for entry in found:
            entry.pins += 1
        return self.block * len(found)

    def unlock(self, ids, key=None):
        for entry in self._cached(ids, key):
            entry.pins -= 1

    def evict(self, n):
        out = []
        for _ in range(n):
            inner = {(key, ids[: -self.block]) for key, ids in self.entries}
            free = [place for place, entry in self.entries.items() if place not in inner and not entry.pins]
            if not free:
                break
            out.append(self.entries.pop(min(free, key=lambda place: self.entries[place].used)).number)
        return out
