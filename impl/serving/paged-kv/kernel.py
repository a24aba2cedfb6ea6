"""Paged decoding on a GPU: one query a head, keys and values wherever the block table says.

`paged_attention` is two kernels. The first has a program for each (sequence, group of heads, part of the table): it looks up the
blocks of its tokens, reads K and V where they lie, gathers nothing anywhere, and leaves a normalised output and lse in float32; the
R = H/G heads of a group are rows of one tile, so that a key is read once for all. The second merges the parts of each head.
Decisions:
- a tile of tokens looks up block_table[b, n // block] for each token n, so blocks may be of any size, one token or a thousand;
- a part is PART tokens whatever the batch: the same request gives the same bits in any batch; parts behind a length end at once;
- lengths stay on the device: the number of parts follows from the width of the table;
- tokens behind a length are never read, nor are their table entries: NaN and nonsense may lie there. Length 0 gives zeros;
- each weight is split into two 16-bit numbers (`product`): reading the cache takes longer than the products.
The allocator is bookkeeping on the host, the same as in the reference. For inference: there is no backward pass.

Bytes: 2·G·d·Σ lengths elements and 4 bytes of table a token and group (mostly cached), parts 2·4·B·H·(d + 1)·parts.
Operations: 4·H·d·Σ lengths (6 in 16 bits): H/G operations a byte in 16 bits, bound by memory.
Not in it: several queries at a time (speculation), 8-bit caches, copies of blocks after a fork.

Kwon et al. 2023, arXiv 2309.06180, §4; parts: Dao et al. 2023, Flash-Decoding.
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

INTERPRETED = triton.knobs.runtime.interpret
PART = 32 if INTERPRETED else 512  # tokens


class BlockAllocator:
    def __init__(self, n_blocks: int, block: int) -> None:
        self.block = block
        self._unused = list(range(n_blocks))
        self._owners = [0] * n_blocks
        self._tables: dict[int, list[int]] = {}
        self._lengths: dict[int, int] = {}

    def append(self, seq: int) -> tuple[int, int, tuple[int, int] | None]:
        table, length = self._tables.get(seq, []), self._lengths.get(seq, 0)
        offset, copy = length % self.block, None
        if offset == 0:
            table = [*table, self._take()]
        elif self._owners[table[-1]] > 1:
            copy = (table[-1], self._take())
            self._owners[copy[0]] -= 1
            table = [*table[:-1], copy[1]]
        self._tables[seq], self._lengths[seq] = table, length + 1
        return table[-1], offset, copy

    def _take(self) -> int:
        if not self._unused:
            raise MemoryError("no block is free: free a sequence first")
        block = self._unused.pop()
        self._owners[block] = 1
        return block

    def fork(self, src: int, dst: int) -> None:
        self._tables[dst], self._lengths[dst] = list(self._tables[src]), self._lengths[src]
        for block in self._tables[src]:
            self._owners[block] += 1

    def free(self, seq: int) -> None:
        for block in self._tables.pop(seq):
            self._owners[block] -= 1
            if not self._owners[block]:
                self._unused.append(block)
        del self._lengths[seq]

    def table(self, seq: int) -> list[int]:
        return list(self._tables[seq])


def paged_attention(q: Tensor, k_pool: Tensor, v_pool: Tensor, block_table: Tensor, lengths: Tensor) -> Tensor:
    k_pool, v_pool = (x if x.stride(-1) == 1 else x.contiguous() for x in (k_pool, v_pool))
    (B, H, d), (block, G), M = q.shape, k_pool.shape[1:3], block_table.shape[1]
    wide = torch.promote_types(q.dtype, torch.float32)
    parts = triton.cdiv(M * block, PART)
    outs = torch.empty(B, H, parts, d, dtype=wide, device=q.device)
    lses = torch.empty(B, H, parts, dtype=wide, device=q.device)
    out = torch.empty(B, H, d, dtype=q.dtype, device=q.device)
    block_d = max(16, triton.next_power_of_2(d))
    sizes = {
        "D": d,
        "BLOCK_D": block_d,
        "WIDE": tl.float64 if wide == torch.float64 else tl.float32,
        "PART": PART,
    }
    tiles = {
        "SCALE": 1 / math.sqrt(d),
        "R": H // G,
        "BLOCK_R": max(16, triton.next_power_of_2(H // G)),
        "BLOCK_N": 16 if INTERPRETED else max(16, min(64, 8192 // (block_d * q.element_size()))),
        "num_warps": 4 if H // G <= 32 else 8,
    }
    strides = (*k_pool.stride()[:3], *v_pool.stride()[:3])
    tables = (block_table.contiguous(), lengths.contiguous())
    with torch.cuda.device_of(q):
        part_kernel[(B * G, parts)](
            q.contiguous(), k_pool, v_pool, *tables, outs, lses, *strides, block, G, M, **sizes, **tiles
        )
        merge_kernel[(B * H,)](outs, lses, tables[1], out, H, parts, **sizes)
    return out


@triton.jit
def product(x, y):
    """Return x @ y in x's dtype. For 16-bit y, x is split into two 16-bit numbers: its rounded value and the rest."""
    high = x.to(y.dtype)
    out = tl.dot(high, y, input_precision="ieee", out_dtype=x.dtype)
    if x.dtype != y.dtype:
        out += tl.dot((x - high.to(x.dtype)).to(y.dtype), y, out_dtype=x.dtype)
    return out


@triton.jit
def part_kernel(
    q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, outs_ptr, lses_ptr,
    k_n, k_o, k_g, v_n, v_o, v_g, block, G, M,
    SCALE: tl.constexpr, D: tl.constexpr, R: tl.constexpr, PART: tl.constexpr, BLOCK_R: tl.constexpr,
    BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    pair, part = tl.program_id(0).to(tl.int64), tl.program_id(1).to(tl.int64)
    b, g = pair // G, pair % G
    end = tl.minimum(tl.load(lengths_ptr + b).to(tl.int64), (part + 1) * PART)
    if part * PART >= end:
        return  # the merge does not ask for it
    heads, tokens, dims = tl.arange(0, BLOCK_R), tl.arange(0, BLOCK_N), tl.arange(0, BLOCK_D)
    head_mask = (heads < R)[:, None] & (dims < D)[None, :]  # (r, d)
    q = tl.load(q_ptr + (pair * R + heads)[:, None] * D + dims[None, :], mask=head_mask, other=0.0)  # (r, d)
    m = tl.full([BLOCK_R], float("-inf"), WIDE)
    l = tl.full([BLOCK_R], 0.0, WIDE)
    acc = tl.full([BLOCK_R, BLOCK_D], 0.0, WIDE)
    for first in range(part * PART, end, BLOCK_N):
        inside = first + tokens < end  # (n,)
        token_mask = inside[:, None] & (dims < D)[None, :]  # (n, d)
        place = tl.load(table_ptr + b * M + (first + tokens) // block, mask=inside, other=0).to(tl.int64)  # (n,)
        offset = (first + tokens) % block  # (n,)
        k = tl.load(k_ptr + (place * k_n + offset * k_o + g * k_g)[:, None] + dims[None, :], mask=token_mask, other=0.0)
        v = tl.load(v_ptr + (place * v_n + offset * v_o + g * v_g)[:, None] + dims[None, :], mask=token_mask, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee", out_dtype=WIDE) * SCALE  # (r, n)
        scores = tl.where(inside[None, :], scores, float("-inf"))
        new_m = tl.maximum(m, tl.max(scores, axis=1))  # finite: a tile has a token
        weights, shrink = tl.exp(scores - new_m[:, None]), tl.exp(m - new_m)  # (r, n), (r,)
        l = l * shrink + tl.sum(weights, axis=1)
        acc = acc * shrink[:, None] + product(weights, v)
        m = new_m
    row = (pair * R + heads) * tl.num_programs(1) + part  # (r,)
    tl.store(outs_ptr + row[:, None] * D + dims[None, :], acc / l[:, None], mask=head_mask)
    tl.store(lses_ptr + row, m + tl.log(l), mask=heads < R)


@triton.jit
def merge_kernel(
    outs_ptr, lses_ptr, lengths_ptr, out_ptr, H, parts,
    D: tl.constexpr, PART: tl.constexpr, BLOCK_D: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    row, dims = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK_D)
    filled = (tl.load(lengths_ptr + row // H) + PART - 1) // PART
    top = tl.full([1], float("-inf"), WIDE)
    total = tl.full([1], 0.0, WIDE)
    acc = tl.full([BLOCK_D], 0.0, WIDE)
    for part in range(filled):
        lse = tl.load(lses_ptr + row * parts + part)
        new_top = tl.maximum(top, lse)
        weight, shrink = tl.exp(lse - new_top), tl.exp(top - new_top)
        total = total * shrink + weight
        acc = acc * shrink + weight * tl.load(outs_ptr + (row * parts + part) * D + dims, mask=dims < D, other=0.0)
        top = new_top
    tl.store(out_ptr + row * D + dims, acc / tl.where(total == 0.0, 1.0, total), mask=dims < D)
