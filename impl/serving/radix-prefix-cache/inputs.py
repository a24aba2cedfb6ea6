"""Random traffic over few tokens, so that prefixes meet, part and return; a model of the cache tracks which blocks belong to whom."""

from __future__ import annotations

GRADIENTS = False
PROFILES = {"matches-reference": ["ordinary"], "edge-cases": ["ordinary"]}
SIZES = {"steps": (1, 14, 60), "block": (1, 3), "length": (0, 9)}


class Traffic:
    """Calls to one cache, and a dict of prefixes beside it: new blocks get new numbers, cached ones are given again."""

    def __init__(self, make, block):
        self.make, self.block, self.next, self.clock = make, block, 100, 0
        self.cache = make.new("RadixCache", block)
        self.held, self.used, self.pins, self.locked = {}, {}, {}, []

    def prefixes(self, ids, key):
        return [(key, tuple(ids[:end])) for end in range(self.block, len(ids) + 1, self.block)]

    def cached(self, ids, key):
        found = []
        for prefix in self.prefixes(ids, key):
            if prefix not in self.held:
                break
            found.append(prefix)
        return found

    def call(self, name, ids, *args, key=None):
        self.make.method(self.cache, name, list(ids), *args, **({} if key is None else {"key": key}))

    def match(self, ids, key=None):
        self.clock += 1
        self.used.update(dict.fromkeys(self.cached(ids, key), self.clock))
        self.call("match", ids, key=key)

    def insert(self, ids, key=None, again=False):
        """Insert `ids`; with `again` cached prefixes come with the block that holds them, else with a new one."""
        self.clock += 1
        blocks = []
        for prefix in self.prefixes(ids, key):
            self.next += 1
            blocks.append(self.held.get(prefix, self.next) if again else self.next)
            self.held.setdefault(prefix, blocks[-1])
            self.used[prefix] = self.clock
        self.call("insert", ids, blocks, key=key)

    def lock(self, ids, key=None):
        found = self.cached(ids, key)
        for prefix in found:
            self.pins[prefix] = self.pins.get(prefix, 0) + 1
        self.locked.append((list(ids[: len(found) * self.block]), key))
        self.call("lock", ids, key=key)

    def unlock(self, number=0):
        if self.locked:
            ids, key = self.locked.pop(number % len(self.locked))
            for prefix in self.prefixes(ids, key):
                self.pins[prefix] -= 1
            self.call("unlock", ids, key=key)

    def evict(self, n):
        for _ in range(n):
            inner = {(key, ids[: -self.block]) for key, ids in self.held}
            free = [prefix for prefix in self.held if prefix not in inner and not self.pins.get(prefix)]
            if free:
                del self.held[min(free, key=self.used.__getitem__)]
        self.make.method(self.cache, "evict", n)


def case(make):
    steps, block, length = make.sizes("steps", "block", "length")
    traffic, keys = Traffic(make, block), make.pick([[None], [None, "adapter"], [1, None]])
    for _ in range(steps):
        ids = make.integers(0, 2, int(make.integers(0, length + 1, 1))).tolist()
        what, key = int(make.integers(0, 10, 1)), keys[int(make.integers(0, len(keys), 1))]
        if what < 4:
            traffic.insert(ids, key, again=what < 2)
        elif what < 6:
            traffic.match(ids, key)
        elif what < 7:
            traffic.lock(ids, key)
        elif what < 8:
            traffic.unlock(int(make.integers(0, 9, 1)))
        else:
            traffic.evict(what - 7 if what < 9 else 4)
    traffic.match([0] * length, keys[0])
    traffic.evict(99)


def edge_prefixes_that_part(make):
    """paths that part after the second block, and inside the first: every branch is still found

    在第二块之后、在第一块里面分叉的路径：每个分支都还找得到
    """
    traffic = Traffic(make, 2)
    for ids in ([1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 9, 9], [1, 9, 3, 4], [1, 2], [1, 2, 3, 4, 5, 6, 7, 7]):
        traffic.insert(ids)
    for ids in (
        [1, 2, 3, 4, 5, 6, 7, 8, 9],
        [1, 2, 3, 4, 9, 9],
        [1, 9, 3, 4, 5],
        [1, 2, 3],
        [1],
        [],
        [1, 2, 3, 4, 5, 9],
    ):
        traffic.match(ids)
    traffic.evict(20)


def edge_blocks_given_again(make):
    """the block that holds a prefix is given again, beside others: only the others come back

    同一前缀再次给出正持有它的块和别的块：只退回别的块
    """
    traffic = Traffic(make, 2)
    traffic.insert([1, 2, 3, 4, 5])
    traffic.insert([1, 2, 3, 4, 5, 6, 7], again=True)
    traffic.insert([1, 2, 3, 4, 5, 6, 7, 8])
    traffic.match([1, 2, 3, 4, 5, 6, 7, 8])


def edge_pins(make):
    """two pins need two unlocks; a pin on a long prefix holds the shorter ones, not its extensions

    钉了两次就要解两次；钉住长前缀也就钉住了更短的，但不含它的延伸
    """
    traffic = Traffic(make, 1)
    traffic.insert([1, 2, 3, 4])
    traffic.insert([1, 5])
    traffic.lock([1, 2, 9])
    traffic.lock([1, 2])
    for _ in range(3):
        traffic.evict(9)
        traffic.match([1, 2, 3])
        traffic.unlock()
    traffic.lock([7, 7])
    traffic.evict(9)


def edge_order_of_use(make):
    """match and insert refresh every prefix on their way, lock does not; the oldest leaf goes first, then its parent

    match 和 insert 会刷新沿途每个前缀，lock 不会；最旧的叶子先走，然后才轮到父节点
    """
    traffic = Traffic(make, 1)
    for ids in ([1, 2], [3, 4], [5], [1, 6]):
        traffic.insert(ids)
    traffic.match([3])
    traffic.lock([5])
    traffic.unlock()
    traffic.match([1, 2, 8])
    for n in (1, 2, 0, 5):
        traffic.evict(n)
    for again in (traffic.match, traffic.insert):
        traffic.insert([1, 2])
        traffic.insert([5])
        again([1, 2])
        traffic.lock([5])
        traffic.evict(1)  # the leaf goes, its parent was used as late
        traffic.unlock()
        traffic.evict(1)
        traffic.evict(9)


def edge_two_caches_and_keys(make):
    """equal ids under other keys and in another cache are other prefixes

    同样的 ids，key 不同、缓存不同，就是不同的前缀
    """
    caches = [Traffic(make, 2), Traffic(make, 2)]
    for traffic in caches:
        traffic.insert([1, 2, 3, 4], key="a")
        traffic.match([1, 2, 3, 4])
        traffic.insert([1, 2], key=None)
        traffic.match([1, 2, 3, 4], key="b")
        traffic.lock([1, 2], key="a")
        traffic.evict(9)
        traffic.match([1, 2, 3, 4], key="a")
