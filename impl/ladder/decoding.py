"""Afternoon: decode token by token from caches, so that nothing is computed twice.

The first block rotates its keys and caches them step by step. The second stores them in pages, which forks share until
they diverge. A very long cache is read in pieces that are merged. Results must equal those of the whole text.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import torch
from ladder_measure import Largest
from ladder_model import BLOCKS, Model
from torch import Tensor

PAGE, PAGES = 4, 15


def live(engine: Any) -> None:
    rows_at_their_own_positions(engine, engine.model)
    two_continuations(engine)
    work_of_a_step(engine)
    pages(engine, engine.model)
    counting(engine)
    cells(engine)
    in_pieces(engine)


def heads(seed: int, *shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def rows_at_their_own_positions(engine: Any, model: Model) -> None:
    """Decode three rows of one batch, each from its own start position, one with a gap, under two bases."""
    ids = torch.tensor(engine.text[40:61]).view(3, 7)
    starts = torch.tensor([[0], [5], [300]])
    for n, base in enumerate((100.0, 7.0)):
        cache: Any = {}
        for t in range(7):
            q, k, v = model.projected(model.embedded(ids[:, t : t + 1]), "a", None)
            jump = torch.tensor([[0], [2 if t > 3 else 0], [-t]])
            out, cache = engine.do.rope_decode_step(q, k, v, cache, starts + t + jump, base)
            engine.say("cached-step", out, 10 * n + t, tolerance=1e-3)
    q, k, v = (heads(seed, 2, 2, 1, 8) for seed in range(3))
    alone = engine.do.rope_decode_step(q, k, v, {}, torch.tensor([[4], [9]]))
    engine.say("cached-step", alone[0], 30)
    near, cache = [], {}
    for t in range(4):
        q, k, v = (heads(10 * t + seed, 2, 2, 1, 8) for seed in range(3))
        out, cache = engine.do.rope_decode_step(q, k, v, cache, torch.tensor([[9 - 2 * t], [50 * t]]))
        near.append(out)
    engine.say("cached-step", near, 31, tolerance=1e-3)


def two_continuations(engine: Any) -> None:
    """Continue one text in two ways. Neither sees the other, and the first cache stays unchanged."""
    cache: Any = {}
    for t in range(3):
        _, cache = engine.do.rope_decode_step(
            *(heads(t + s, 1, 3, 1, 4) for s in (0, 50, 90)), cache, torch.tensor([[t]])
        )
    for n, seed in enumerate((7, 8, 7)):
        own, outs = cache, []
        for t in (3, 4):
            out, own = engine.do.rope_decode_step(
                *(heads(seed * t + s, 1, 3, 1, 4) for s in (1, 51, 91)), own, torch.tensor([[t]])
            )
            outs.append(out)
        engine.say("continuation", outs, n, tolerance=1e-3)


def work_of_a_step(engine: Any) -> None:
    """Check that a long cache stores only its keys and values, and that a step copies it at most once."""
    cache: Any = {}
    for t in range(100):
        part = [heads(t + s, 1, 2, 1, 8) for s in (0, 50, 90)]
        with Largest() as seen:
            out, cache = engine.do.bare.rope_decode_step(*part, cache, torch.tensor([[t]]))
    numbers = sum(part.numel() for part in cache.values() if isinstance(part, Tensor) and part.is_floating_point())
    engine.say("cache-size", numbers <= 2 * 2 * 100 * 8 + 100)
    engine.say("cache-work", seen.numbers <= 3 * 2 * 101 * 8)
    engine.say("cached-step", out, 32, tolerance=1e-3)


def pages(engine: Any, model: Model) -> None:
    """Decode three answers to one prompt as one paged batch: one fork inside a page, one at a page's end."""
    _, G, d, _, _ = BLOCKS["b"]
    keeper = engine.do.BlockAllocator(PAGES, PAGE)
    store = [torch.full((PAGES, PAGE, G, d), 50.0, dtype=torch.float64) for _ in range(2)]
    texts = {0: list(engine.text[60:66])}

    def take(seq: int, token: int, position: int) -> Tensor:
        block, offset, copy = keeper.append(seq)
        if copy is not None:
            for pool in store:
                pool[copy[1]] = pool[copy[0]]
        x = model.embedded(torch.tensor([[token]]))
        q, k, v = model.projected(x, "b", torch.tensor([position]))
        store[0][block, offset], store[1][block, offset] = k[0, :, 0], v[0, :, 0]
        engine.say("page-slot", [offset, copy is not None], position)
        return q[:, :, 0].detach()

    for position, token in enumerate(texts[0]):
        newest = {0: take(0, token, position)}
    for fork, after in ((1, 6), (2, 8)):
        while len(texts[0]) < after:
            texts[0].append(engine.text[len(texts[0])])
            newest[0] = take(0, texts[0][-1], len(texts[0]) - 1)
        keeper.fork(0, fork)
        texts[fork] = list(texts[0])
        newest[fork] = newest[0]
    for round in range(6):
        for seq, text in texts.items():
            text.append(engine.text[90 + 7 * seq + round])
            newest[seq] = take(seq, text[-1], len(text) - 1)
        rows = [keeper.table(seq) for seq in texts]
        width = max(map(len, rows)) + 1
        table = torch.tensor([row + [(7 * n) % PAGES for n in range(width - len(row))] for row in rows])
        lengths = torch.tensor([len(text) for text in texts.values()])
        queries = torch.cat([newest[seq] for seq in texts])
        engine.say("paged-attention", engine.do.paged_attention(queries, *store, table, lengths), round, tolerance=1e-4)
        engine.say("page-tables", [[len(row), len(set(row)), all(0 <= b < PAGES for b in row)] for row in rows], round)
        shared = [sum(a == b for a, b in zip(rows[0], row, strict=False)) for row in rows[1:]]
        engine.say("shared-pages", shared, round)
    engine.say("freed", [keeper.free(seq) for seq in (0, 2)] and len(keeper.table(1)))


def counting(engine: Any) -> None:
    """Fill the memory, free sequences and reuse their blocks. A refused call must change nothing."""
    keeper = engine.do.BlockAllocator(3, 2)

    def add(seq: int, n: int = 0) -> None:
        block, offset, copy = keeper.append(seq)
        engine.say("page-slot", [offset, copy is not None and copy[1] == block], 100 + n)

    for n in range(4):
        add(5, n)
    engine.refused("unknown-sequence", KeyError, lambda: keeper.table(9))
    engine.refused("unknown-sequence", KeyError, lambda: keeper.free(9), 1)
    engine.refused("unknown-sequence", KeyError, lambda: keeper.fork(9, 8), 2)
    keeper.fork(5, 6)
    add(6, 10)
    engine.refused("memory-is-full", MemoryError, lambda: keeper.append(7))
    engine.refused("unknown-sequence", KeyError, lambda: keeper.table(7), 3)
    engine.refused("memory-is-full", MemoryError, lambda: keeper.append(5), 1)
    engine.refused("memory-is-full", MemoryError, lambda: keeper.append(5), 2)
    add(6, 11)
    engine.refused("memory-is-full", MemoryError, lambda: keeper.append(6), 3)
    engine.say("page-tables", [keeper.table(5) == keeper.table(6)[:2], len(keeper.table(6)), len(keeper.table(5))], 100)
    keeper.free(6)
    add(5, 12)
    keeper.fork(5, 6)
    engine.refused("memory-is-full", MemoryError, lambda: keeper.append(6), 4)
    keeper.free(5)
    add(6, 13)
    engine.say("page-tables", [len(set(keeper.table(6)))], 101)
    keeper.free(6)
    forks = engine.do.BlockAllocator(6, 3)
    for _ in range(2):
        forks.append(0)
    forks.fork(0, 1)
    forks.fork(0, 2)
    for n, seq in enumerate((1, 0, 2, 1, 2, 0)):
        before = forks.table(seq)
        block, offset, copy = forks.append(seq)
        moved = copy is not None and copy[0] == before[-1] and copy[1] == block != copy[0]
        engine.say("parted", [offset, copy is not None, moved, forks.table(seq)[-1] == block], n)
    ends = [forks.table(seq) for seq in range(3)]
    engine.say("parted", len({tuple(row) for row in ends}), 9)
    for seq in range(3):
        forks.free(seq)
    for n in range(18):
        forks.append(20 + n // 3)
    engine.refused("memory-is-full", MemoryError, lambda: forks.append(30), 5)
    engine.say("page-tables", sorted(b for seq in range(6) for b in forks.table(20 + seq)), 102)


def cells(engine: Any) -> None:
    """Attend over rows with no token, one full page or a single token; the tables end in garbage entries."""
    q, k, v = heads(1, 4, 6, 5), heads(2, 9, 3, 2, 5), heads(3, 9, 3, 2, 5)
    k[8] = v[8] = 1e6
    table = torch.tensor([[8, 8, 8, 8], [2, 8, 8, 8], [4, 0, 7, 8], [1, 8, 8, 8]])
    for n, lengths in enumerate(([0, 3, 8, 1], [0, 2, 9, 3], [0, 1, 4, 2])):
        given = torch.tensor(lengths)
        engine.say("paged-attention", engine.do.paged_attention(q, k, v, table, given), 20 + n)
    far = torch.tensor([[8, -1, 900, 8], [2, 900, -1, 8], [4, 0, 7, 900], [1, 900, 900, 900]])
    engine.say("paged-attention", engine.do.paged_attention(q, k, v, far, torch.tensor([0, 3, 8, 1])), 30)
    pool = heads(6, 64, 4, 2, 5)
    row = torch.arange(64).flip(0)[None]
    engine.say("paged-attention", engine.do.paged_attention(q[:1], pool, pool + 1, row, torch.tensor([251])), 32)
    many, pool = heads(4, 16, 2, 4), heads(5, 64, 4, 2, 4)
    table = torch.arange(64).view(16, 4)
    with torch.no_grad(), Largest(pool) as seen:
        out = engine.do.bare.paged_attention(many, pool, pool, table, torch.full((16,), 16))
    engine.say("paged-attention", out, 31)
    engine.say("gathered", seen.numbers < 16 * 16 * 2 * 4)


def in_pieces(engine: Any) -> None:
    """Merge a long cache from unequal pieces: all at once, in two rounds, and with empty pieces."""
    q, k, v = heads(1, 2, 3, 8), heads(2, 2, 3, 90, 8), heads(3, 2, 3, 90, 8)
    scores = (q[..., None, :] @ k.transpose(-2, -1))[..., 0, :] / math.sqrt(8)
    sizes = [torch.tensor([1.0, 1e3, 1e-2])[None, :, None], torch.tensor([1.0, 300.0])[:, None, None]]
    for n, (size, cuts) in enumerate(
        [
            (1.0, (0, 7, 60, 90)),
            (1.0, (0, 90)),
            (sizes[0], (0, 1, 2, 50, 90)),
            (sizes[1], (0, 40, 40, 90, 90)),
            (1.0, (0, 0, 90)),
        ]
    ):
        outs, lses = parts(scores * size, v, cuts)
        leaves = [outs.requires_grad_(), lses.requires_grad_()]
        out, lse = engine.do.merge_partials(*leaves)
        engine.say("merged", [out, lse], n)
        taught = torch.autograd.grad((out**2).sum() + (1e-2 * lse).sum(), leaves)
        engine.say("merged-backward", [taught[0], taught[1].nan_to_num()], n)
    outs, lses = parts(scores, v, (0, 20, 30, 90))
    first = engine.do.merge_partials(outs[:2], lses[:2])
    again = engine.do.merge_partials(torch.stack([first[0], outs[2]]), torch.stack([first[1], lses[2]]))
    engine.say("merged", list(again), 10)
    outs_of_many, lses_of_many = parts(scores, v, tuple(range(0, 91, 3)))
    engine.say("merged", list(engine.do.merge_partials(outs_of_many, lses_of_many)), 15)
    for n, shift in enumerate((-1e4, 1e4, -1000.0)):
        engine.say("merged", list(engine.do.merge_partials(outs, lses + shift)), 11 + n)
    lses[1:] = -math.inf
    lses[0, 0, 1] = -math.inf
    engine.say("merged", list(engine.do.merge_partials(outs, lses)), 20)
    engine.say(
        "merged", list(engine.do.merge_partials(outs, lses.where(lses > -math.inf, torch.tensor(-math.inf)) - 2e4)), 21
    )
    engine.say("merged", list(engine.do.merge_partials(outs[:, 0, 0], lses[:, 0, 0] * 0 - 3.0)), 22)


def parts(scores: Tensor, v: Tensor, cuts: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Return the normalised output and the log-sum-exp of each piece of the keys."""
    outs, lses = [], []
    for start, end in pairwise(cuts):
        piece = scores[..., start:end]
        lses.append(piece.logsumexp(-1) if end > start else torch.full(piece.shape[:-1], -math.inf).double())
        weights = piece.softmax(-1) if end > start else piece
        outs.append((weights[..., None, :] @ v[..., start:end, :])[..., 0, :] + (0.0 if end > start else 9.0))
    return torch.stack(outs).detach(), torch.stack(lses).detach()
