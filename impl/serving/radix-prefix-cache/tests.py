"""A dictionary from prefixes to blocks as the oracle, and long random sequences of operations on both."""

from hypothesis import given
from hypothesis import strategies as st


class Dictionary:
    """Keep {(key, prefix): [block number, last use, pins]}, one entry for each cached prefix."""

    def __init__(self, block):
        self.block, self.clock, self.entries = block, 0, {}

    def cached(self, ids, key):
        found = []
        for end in range(self.block, len(ids) + 1, self.block):
            if (key, tuple(ids[:end])) not in self.entries:
                break
            found.append((key, tuple(ids[:end])))
        return found

    def match(self, ids, key=None):
        self.clock += 1
        found = self.cached(ids, key)
        for prefix in found:
            self.entries[prefix][1] = self.clock
        return len(found) * self.block, [self.entries[prefix][0] for prefix in found]

    def insert(self, ids, blocks, key=None):
        spare = []
        for n, number in enumerate(blocks, start=1):
            held = self.entries.setdefault((key, tuple(ids[: n * self.block])), [number, 0, 0])
            if held[0] != number:
                spare.append(number)
        self.match(ids, key)
        return spare

    def lock(self, ids, key=None, by=1):
        found = self.cached(ids, key)
        for prefix in found:
            self.entries[prefix][2] += by
        return len(found) * self.block

    def unlock(self, ids, key=None):
        self.lock(ids, key, by=-1)

    def evict(self, n):
        freed = []
        while len(freed) < n:
            extended = {(key, prefix[: -self.block]) for key, prefix in self.entries}
            free = [one for one, (_, _, pins) in self.entries.items() if not pins and one not in extended]
            if not free:
                break
            oldest = min(free, key=lambda one: self.entries[one][1])
            freed.append(self.entries.pop(oldest)[0])
        return freed


def test_a_prefix_of_whole_blocks_is_found(RadixCache):
    cache = RadixCache(2)
    assert cache.match([1, 2, 3, 4]) == (0, [])
    assert cache.insert([1, 2, 3, 4, 5], [10, 11]) == []
    assert cache.match([1, 2, 3, 4, 5, 6]) == (4, [10, 11])
    assert cache.match([1, 2, 3]) == (2, [10])
    assert cache.match([1, 2, 9, 4]) == (2, [10])
    assert cache.match([2, 2, 3, 4]) == cache.match([1]) == cache.match([]) == (0, [])


def test_equal_tokens_after_another_prefix_are_another_block(RadixCache):
    cache = RadixCache(1)
    cache.insert([1, 7], [10, 11])
    assert cache.insert([2, 7], [12, 13]) == []
    assert cache.match([2, 7]) == (2, [12, 13])
    assert cache.match([7]) == (0, [])


def test_blocks_that_another_holds_already_come_back(RadixCache):
    cache = RadixCache(2)
    cache.insert([1, 2, 3, 4], [10, 11])
    assert cache.insert([1, 2, 3, 4, 5, 6], [20, 11, 22]) == [20]
    assert cache.insert([1, 2, 3, 4, 5, 6], [30, 31, 32]) == [30, 31, 32]
    assert cache.match([1, 2, 3, 4, 5, 6]) == (6, [10, 11, 22])


def test_keys_share_nothing(RadixCache):
    cache = RadixCache(1)
    cache.insert([1, 2], [10, 11])
    assert cache.match([1, 2], "adapter") == (0, [])
    assert cache.insert([1, 2], [20, 21], "adapter") == []
    assert cache.match([1, 2], key="adapter") == (2, [20, 21])
    assert cache.lock([1, 2], "adapter") == 2
    assert cache.evict(9) == [11, 10]  # only the other key is locked


def test_the_least_recently_used_leaf_of_all_keys_goes_first(RadixCache):
    cache = RadixCache(1)
    cache.insert([1, 2], [10, 11])
    cache.insert([1, 3], [10, 12])
    cache.insert([5], [13], "other")
    cache.match([1, 2])
    assert cache.evict(1) == [12]
    assert cache.evict(2) == [13, 11]
    assert cache.evict(5) == [10] and cache.evict(5) == []
    assert cache.match([1, 2]) == (0, [])


def test_each_lock_needs_its_own_unlock(RadixCache):
    cache = RadixCache(2)
    cache.insert([1, 2, 3, 4], [10, 11])
    assert cache.lock([1, 2, 3, 4, 5]) == 4 and cache.lock([1, 2, 9]) == 2
    assert cache.evict(9) == []
    cache.unlock([1, 2, 3, 4])
    assert cache.evict(9) == [11]
    cache.unlock([1, 2])
    assert cache.evict(9) == [10]
    assert cache.lock([1, 2]) == 0


def test_what_is_inserted_behind_a_lock_is_not_pinned(RadixCache):
    cache = RadixCache(1)
    cache.insert([1], [10])
    assert cache.lock([1, 2]) == 1
    cache.insert([1, 2], [10, 11])
    assert cache.evict(9) == [11]
    cache.unlock([1])
    assert cache.evict(9) == [10]


def test_match_and_insert_use_every_prefix_on_their_way(RadixCache):
    for use in (lambda cache: cache.match([1, 2]), lambda cache: cache.insert([1, 2], [10, 11])):
        cache = RadixCache(1)
        cache.insert([1, 2], [10, 11])
        cache.insert([5], [12])
        use(cache)
        cache.lock([5])
        assert cache.evict(1) == [11]
        cache.unlock([5])
        assert cache.evict(2) == [12, 10]  # the prefix [1] was used after [5]


def test_locking_and_evicting_use_nothing(RadixCache):
    cache = RadixCache(1)
    cache.insert([1], [10])
    cache.insert([2], [11])
    cache.unlock([1][: cache.lock([1])])
    assert cache.evict(2) == [10, 11]


NAMES = ["match", "insert", "insert", "lock", "unlock", "evict"]


@given(st.integers(1, 3), st.randoms(use_true_random=True))
def test_long_histories_agree_with_the_dictionary(RadixCache, block, rng):
    cache, oracle, locked, fresh = RadixCache(block), Dictionary(block), [], 0
    for _ in range(80):
        name, key, ids = rng.choice(NAMES), rng.choice([None, 0, "a"]), rng.choices([0, 1], k=rng.randint(0, 9))
        if name == "match":
            assert cache.match(ids, key) == oracle.match(ids, key)
        elif name == "insert":
            blocks = [*range(fresh, fresh + len(ids) // block)]
            fresh += len(blocks)
            assert cache.insert(ids, blocks, key) == oracle.insert(ids, blocks, key)
        elif name == "lock":
            length = cache.lock(ids, key)
            assert length == oracle.lock(ids, key)
            locked.append((ids[:length], key))
        elif name == "unlock" and locked:
            one = locked.pop(rng.randrange(len(locked)))
            cache.unlock(*one), oracle.unlock(*one)
        elif name == "evict":
            assert cache.evict(len(ids) // 3) == oracle.evict(len(ids) // 3)
    assert cache.evict(10**6) == oracle.evict(10**6)


def test_arguments_stay_and_results_belong_to_the_caller(RadixCache):
    cache, ids, blocks = RadixCache(1), [1, 2], [10, 11]
    cache.insert(ids, blocks)
    ids.append(3), blocks.clear()
    found = cache.match([1, 2])[1]
    found.clear()
    assert cache.match([1, 2, 3]) == (2, [10, 11])
