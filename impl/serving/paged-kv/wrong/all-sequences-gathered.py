"""Gathers the keys of all sequences into one dense tensor.
把所有序列的 key 收集成一个稠密张量。

symptom: Right, and the memory that paging saves is taken again.
症状：结果对，分页省下的内存又占了回来。

cards: dec-12
rung: solved
"""

import torch


class BlockAllocator:
    def __init__(self, n_blocks, block):
        self.block = block
        self.unused = list(range(n_blocks))
        self.owners = [0] * n_blocks
        self.tables, self.lengths = {}, {}

    def _take(self):
        if not self.unused:
            raise MemoryError("no free block")
        new = self.unused.pop()
        self.owners[new] = 1
        return new

    def append(self, seq):
        table, length = self.tables.get(seq, []), self.lengths.get(seq, 0)
        copy = None
        if length % self.block == 0:
            table = [*table, self._take()]
        elif self.owners[table[-1]] > 1:
            new = self._take()
            copy = (table[-1], new)
            self.owners[table[-1]] -= 1
            table = [*table[:-1], new]
        self.tables[seq], self.lengths[seq] = table, length + 1
        return table[-1], length % self.block, copy

    def fork(self, src, dst):
        if src not in self.tables:
            raise KeyError(src)
        self.tables[dst], self.lengths[dst] = list(self.tables[src]), self.lengths[src]
        for b in self.tables[src]:
            self.owners[b] += 1

    def free(self, seq):
        table = self.tables.pop(seq)
        del self.lengths[seq]
        for b in table:
            self.owners[b] -= 1
            if self.owners[b] == 0:
                self.unused.append(b)

    def table(self, seq):
        return list(self.tables[seq])


def paged_attention(q, k_pool, v_pool, block_table, lengths):
    B, H, d = q.shape
    block, G = k_pool.shape[1:3]
    wide = torch.promote_types(q.dtype, torch.float32)
    M = block_table.shape[1]
    slots = torch.arange(M * block, device=q.device)
    seen = slots < lengths[:, None]
    table = block_table.masked_fill(torch.arange(M, device=q.device) * block >= lengths[:, None], 0)
    k = k_pool[table].reshape(B, M * block, G, d).to(wide).transpose(1, 2)
    v = v_pool[table].reshape(B, M * block, G, d).to(wide).transpose(1, 2)
    grouped = q.to(wide).reshape(B, G, H // G, d)
    scores = (grouped @ k.mT / d**0.5).masked_fill(~seen[:, None, None], -1e30)
    weights = scores.softmax(-1) * seen[:, None, None]
    return (weights @ v.masked_fill(~seen[:, None, :, None], 0.0)).reshape(B, H, d).to(q.dtype)
