"""Returns (new, old) for the copy.
copy 返回成了 (新, 旧)。

symptom: The shared block is overwritten with garbage.
症状：共享块被垃圾覆盖。

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
            copy = (new, table[-1])
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
    out = torch.zeros(B, H, d, dtype=wide, device=q.device)
    for b in range(B):
        n = int(lengths[b])
        if n == 0:
            continue
        blocks = block_table[b, : -(-n // block)]
        k = k_pool[blocks].reshape(-1, G, d)[:n].to(wide).transpose(0, 1)
        v = v_pool[blocks].reshape(-1, G, d)[:n].to(wide).transpose(0, 1)
        grouped = q[b].to(wide).reshape(G, H // G, d)
        weights = (grouped @ k.mT / d**0.5).softmax(-1)
        out[b] = (weights @ v).reshape(H, d)
    return out.to(q.dtype)
