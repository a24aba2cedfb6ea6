"""Random traffic on an allocator, judged beside a model that counts; pools whose unused slots and table entries hold anything."""

from __future__ import annotations

import torch

AXES = {
    "q": "B H d",
    **dict.fromkeys(("k_pool", "v_pool"), "N block G d"),
    "block_table": "B M",
    "lengths": "B",
    "paged_attention.return": "B H d",
}
SIZES = {
    "B": (1, 3),
    "G": (1, 3),
    "R": (1, 3),
    "d": (1, 5, 33),
    "block": (1, 4, 20),
    "M": (1, 4, 30),
    "steps": (1, 16, 60),
}
DERIVED = {"H": "G * R"}
GRADIENTS = False
HARDENED = {"edge_unused_slots_hold_nan", "edge_the_callers_table"}


_OPS = ["append"] * 6 + ["fork", "fork", "free", "table"]


class Traffic:
    """Calls to one allocator. The number of free blocks does not depend on which are given, so each error is known."""

    def __init__(self, make, n_blocks, block):
        self.make, self.n_blocks, self.block = make, n_blocks, block
        self.made = make.new("BlockAllocator", n_blocks, block)
        self.calls, self.owned, self.next = [], {}, 0  # owned: names of our own for the blocks of each sequence

    def do(self, op, *args):
        error = self.error(op, *args)
        if error is not None:
            self.make.method_raises(error, self.made, op, *args)
            return
        self.calls.append((op, args, self.make.method(self.made, op, *args)))
        names, length = self.owned.get(args[0], ([], 0))
        if op == "append":
            if self.needs_one(args[0]):
                self.next += 1
                names = [*(names[:-1] if length % self.block else names), self.next]
            self.owned[args[0]] = (names, length + 1)
        elif op == "fork":
            self.owned[args[1]] = (names, length)
        elif op == "free":
            del self.owned[args[0]]

    def needs_one(self, seq):
        names, length = self.owned.get(seq, ([], 0))
        return length % self.block == 0 or sum(names[-1] in other for other, _ in self.owned.values()) > 1

    def error(self, op, seq, *_):
        if op != "append":
            return None if seq in self.owned else KeyError
        taken = {name for names, _ in self.owned.values() for name in names}
        return MemoryError if self.needs_one(seq) and len(taken) == self.n_blocks else None

    def end(self):
        """Ask for every table and judge all results."""
        for seq in list(self.owned):
            self.do("table", seq)
        told = [(handle.step + 1, op, args) for op, args, handle in self.calls]
        if self.calls:
            holds = lambda *got: wrong(self.n_blocks, self.block, told, got)  # noqa: E731
            self.make.judge(holds, *(handle for _, _, handle in self.calls))


def wrong(n_blocks, block, calls, results):
    """Return a message about the first result that no correct allocator could give."""
    tables, lengths = {}, {}
    for (number, op, args), got in zip(calls, results, strict=True):
        seq, due, taken = args[0], None, {b for table in tables.values() for b in table}
        said = "expected None", "应返回 None"
        if op == "fork":
            tables[args[1]], lengths[args[1]] = tables[seq], lengths[seq]
        elif op == "free":
            del tables[seq], lengths[seq]
        elif op == "table":
            due = tables[seq]
            said = f"expected {due}", f"应返回 {due}"
        else:
            table, length = tables.get(seq, []), lengths.get(seq, 0)
            offset = length % block
            sharing = sorted(other for other in tables if offset and other != seq and table[-1] in tables[other])
            fresh = not offset or bool(sharing)
            place = table[-1] if table and not fresh else "new"
            if fresh and type(got) is tuple and got and got[0] in {*range(n_blocks)} - taken:
                place = got[0]
            due = (place, offset, (table[-1], place) if sharing else None)
            said = rule_of_append(str(due).replace("'", ""), seq, table, sharing, fresh, sorted(taken))
            tables[seq], lengths[seq] = [*(table[:-1] if offset else table), place], length + 1
        if got != due:
            name = f"{op}({', '.join(map(str, args))})"
            return (
                f"call {number}, {name}, returned {got}: {said[0]}",
                f"第 {number} 次调用 {name} 返回 {got}：{said[1]}",
            )
    return None


def rule_of_append(due, seq, table, sharing, fresh, taken):
    """Return why `append` must return `due`, in English and in Chinese."""
    others = ", ".join(map(str, sharing))
    if sharing:
        english = f"block {table[-1]} is also in the table of {others}: append must copy it first"
        chinese = f"块 {table[-1]} 也在序列 {others} 的表里，append 必须先复制它"
    elif fresh:
        english = f"sequence {seq} has no block with room: append must take a new one"
        chinese = f"序列 {seq} 没有带空位的块，append 必须拿一个新块"
    else:
        english = f"block {table[-1]} has room and only sequence {seq} uses it"
        chinese = f"块 {table[-1]} 还有空位，而且只有序列 {seq} 在用"
    taken_en, taken_zh = (f", new not in {taken}", f"，new 不在 {taken} 中") if "new" in due else ("", "")
    return f"{english}; expected {due}{taken_en}", f"{chinese}；应返回 {due}{taken_zh}"


def traffic(make, steps, block):
    calls = Traffic(make, make.pick([4, 2, 7, 12]), block)
    for _ in range(steps):
        op, seq = _OPS[int(make.integers(0, len(_OPS), 1))], int(make.integers(0, 4, 1))
        unknown = [name for name in range(99) if name not in calls.owned]
        calls.do(op, seq, *unknown[:1] * (op == "fork"))
    calls.end()


def pools(make, B, G, d, block, M, lengths, stray=(-1,)):
    """Pools, and tables of blocks in any order; entries behind a length are arbitrary."""
    N = B * M + 2
    table = torch.randperm(N, generator=make.random)[: B * M].reshape(B, M)
    unused = torch.arange(M) * block >= lengths[:, None]
    anything = torch.tensor(stray)[make.integers(0, len(stray), B, M)]
    return [*(make.normal(N, block, G, d, grad=False) for _ in "kv"), torch.where(unused, anything, table), lengths]


def case(make):
    if make.pick(["traffic", "attention"]) == "traffic":
        traffic(make, *make.sizes("steps", "block"))
        return
    B, G, d, block, M = make.sizes("B", "G", "d", "block", "M")
    lengths = make.pick(
        [make.integers(0, M * block + 1, B), torch.full((B,), M * block), make.integers(1, block + 1, B)]
    )
    make.call("paged_attention", make.argument("q", grad=False), *pools(make, B, G, d, block, M, lengths))


def written_out(make, n_blocks, block, ops):
    """Traffic such as "a0 f01 x0 t1": append to 0, fork 0 to 1, free 0, the table of 1."""
    calls = Traffic(make, n_blocks, block)
    for op, *args in ops.split():
        if op != "f" or int(args[1]) not in calls.owned:
            calls.do({"a": "append", "f": "fork", "x": "free", "t": "table"}[op], *map(int, args))
    calls.end()


def edge_forks(make):
    """forks of a partial block, of a full one, of a fork; the last owner of a block writes in place

    fork 时最后一块未满、已满，以及对 fork 再 fork；块只剩一个引用者时原地写
    """
    for block in (3, 2, 1):
        written_out(make, 9, block, "a0 a0 f01 a0 a1 f12 a2 a1 a1 x0 a2 f20 x1 a0 a2 x2 a0 a0")


def edge_errors(make):
    """no free block, for a new token, a new sequence and a copy; unknown sequences; freed twice: nothing has changed

    没有空闲块：新 token、新序列、写时复制；未知序列；重复释放：什么都没变
    """
    for block, n_blocks in ((2, 2), (1, 3), (3, 1)):
        ops = "t0 x0 f01 a0 a0 a0 f01 a1 a1 a0 a2 t2 x2 a0 x1 x1 a0 a0 a2 x0 a2 a2 t0 f09 a2"
        written_out(make, n_blocks, block, ops)


def edge_tables(make):
    """entries behind a length are −1, a block of others or no block; lengths 0, at and beyond the end of a block

    长度之后的表项是 −1、别人的块，或根本不是块；长度为 0、恰好在块尾、刚过块尾
    """
    for lengths in ([0, 1, 3], [4, 3, 12], [0, 0, 0], [6, 9, 2]):
        args = pools(make, 3, 2, 4, 3, 4, torch.tensor(lengths), (-1, 0, 5, 10**6))
        make.call("paged_attention", make.normal(3, 4, 4, grad=False), *args)
    k, v, _, _ = pools(make, 2, 1, 4, 2, 3, torch.tensor([5, 5]))
    make.call(
        "paged_attention",
        make.normal(2, 3, 4, grad=False),
        k,
        v,
        torch.tensor([[4, 1, 6], [4, 1, 0]]),
        torch.tensor([5, 6]),
    )


def edge_the_callers_table(make):
    """a returned table is not changed by later calls

    已经返回的表，之后无论发生什么都保持原样
    """
    written_out(make, 6, 1, "a0 t0 a0 t0")


def edge_unused_slots_hold_nan(make):
    """slots behind a length were never written: they may hold NaN

    长度之后的槽位从没写过：里面可能是 NaN
    """
    lengths = torch.tensor([4, 0])
    k, v, table, _ = pools(make, 2, 1, 4, 3, 2, lengths)
    written = torch.zeros(k.shape[:2], dtype=torch.bool)
    written[table[0, 0]], written[table[0, 1], 0] = True, True
    k, v = (make.keep(pool.masked_fill(~written[..., None, None], torch.nan)) for pool in (k, v))
    make.call("paged_attention", make.normal(2, 2, 4, grad=False), k, v, table, lengths)


def attending_at(make, B):
    args = pools(make, B, 2, 32, 4, 8, torch.full((B,), 30))
    make.call("paged_attention", make.normal(B, 4, 32, grad=False), *args)


CONTRACTS = [
    {
        "check": "memory",
        "measure": "largest",
        "case": attending_at,
        "sizes": (4, 8, 16),
        "bound": lambda B: 8 * 4 * 4 * 32 + 4 * (32 + 32) * B,  # one sequence for every head; queries and scores of all
        "growth_at_most": 1.0,
        "says": {
            "en": "keys or values of several sequences are gathered at once",
            "zh": "一次收集了几个序列的 key 或 value",
        },
    }
]
