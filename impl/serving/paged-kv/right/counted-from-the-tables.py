"""No reference counts: who owns a block is read off the tables each time."""
import math
from collections import Counter

import torch


class BlockAllocator:
    def __init__(self, n_blocks, block):
        self.n, self.block = n_blocks, block
        self.seqs = {}  # seq -> (table, number of tokens)

    def _owners(self):
        return Counter(b for table, _ in self.seqs.values() for b in table)

    def _free_block(self):
        taken = self._owners()
        for b in range(self.n):
            if b not in taken:
                return b
        raise MemoryError("out of blocks")

    def append(self, seq):
        table, tokens = self.seqs.get(seq, ([], 0))
        table, copy = table.copy(), None
        if len(table) * self.block == tokens:
            table.append(self._free_block())
        elif self._owners()[table[-1]] > 1:
            copy = (table[-1], self._free_block())
            table[-1] = copy[1]
        self.seqs[seq] = (table, tokens + 1)
        return table[-1], tokens % self.block, copy

    def fork(self, src, dst):
        self.seqs[dst] = self.seqs[src]

    def free(self, seq):
        del self.seqs[seq]

    def table(self, seq):
        return self.seqs[seq][0].copy()


def paged_attention(q, k_pool, v_pool, block_table, lengths):
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    (B, H, d), (N, block, G, _) = q.shape, k_pool.shape
    out = torch.zeros_like(q)
    for b in range(B):
        n = lengths[b].item()
        for g in range(G if n else 0):
            pages = block_table[b, : math.ceil(n / block)].tolist()
            k = torch.cat([k_pool[p, :, g] for p in pages])[:n].to(wide)
            v = torch.cat([v_pool[p, :, g] for p in pages])[:n].to(wide)
            heads = slice(g * H // G, (g + 1) * H // G)
            out[b, heads] = (torch.softmax(q[b, heads].to(wide) @ k.T * d**-0.5, -1) @ v).to(q.dtype)
    return out
