"""A paged KV cache: blocks are counted, shared by forks and copied on write; attention reads them through a table.

A sequence owns a list of blocks of equal size, taken one at a time, so each sequence wastes less than one block. Decisions:
- a fork shares all blocks, the partial last one too; the first to write into that one gets a copy, the other keeps it;
- a full last block is never written again, so it is not copied; a block is free when its last owner leaves it;
- errors are raised before anything has changed;
- attention gathers the blocks of one sequence at a time. Table entries behind a length are not read.

Kwon et al. 2023, arXiv 2309.06180, §4.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


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
    B, H, d = q.shape
    block, G = k_pool.shape[1:3]
    wide = torch.promote_types(q.dtype, torch.float32)
    out = torch.zeros(B, H, d, dtype=wide, device=q.device)
    for b, n in enumerate(lengths.tolist()):
        if n == 0:
            continue
        blocks = block_table[b, : math.ceil(n / block)]
        k, v = (pool[blocks].flatten(0, 1)[:n].to(wide).transpose(0, 1) for pool in (k_pool, v_pool))  # (G, n, d)
        grouped = q[b].to(wide).reshape(G, H // G, d)
        weights = torch.softmax(grouped @ k.transpose(-2, -1) / math.sqrt(d), dim=-1)  # (G, H/G, n)
        out[b] = (weights @ v).reshape(H, d)
    return out.to(q.dtype)
