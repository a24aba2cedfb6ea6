"""Blocks know the set of their owners, lowest free block first; attention goes block by block with a running softmax."""
import heapq

import torch


class BlockAllocator:
    def __init__(self, n_blocks, block):
        self.size, self.heap = block, list(range(n_blocks))
        self.users = {b: set() for b in range(n_blocks)}
        self.rows, self.count = {}, {}

    def append(self, seq):
        used = self.count.get(seq, 0)
        row = self.rows.get(seq, ())
        slot = used % self.size
        shared = slot > 0 and self.users[row[-1]] != {seq}
        if (slot == 0 or shared) and not self.heap:
            raise MemoryError
        copy = None
        if slot == 0 or shared:
            fresh = heapq.heappop(self.heap)
            if shared:
                copy = (row[-1], fresh)
                self.users[row[-1]].discard(seq)
                row = row[:-1]
            self.users[fresh].add(seq)
            row = (*row, fresh)
        self.rows[seq], self.count[seq] = row, used + 1
        return row[-1], slot, copy

    def fork(self, src, dst):
        self.rows[dst] = self.rows[src]
        self.count[dst] = self.count[src]
        for b in self.rows[src]:
            self.users[b].add(dst)

    def free(self, seq):
        if seq not in self.rows:
            raise KeyError(f"unknown sequence {seq}")
        for b in self.rows.pop(seq):
            self.users[b].remove(seq)
            if not self.users[b]:
                heapq.heappush(self.heap, b)
        self.count.pop(seq)

    def table(self, seq):
        return [*self.rows[seq]]


def paged_attention(q, k_pool, v_pool, block_table, lengths):
    B, H, d = q.shape
    size, G = k_pool.shape[1], k_pool.shape[2]
    wide = torch.promote_types(q.dtype, torch.float32)
    result = []
    for b in range(B):
        x = q[b].to(wide).view(G, H // G, d)
        top = torch.full((G, H // G, 1), -torch.inf, dtype=wide, device=q.device)
        mass, acc = torch.zeros_like(top), torch.zeros_like(x)
        for m in range(0, int(lengths[b]), size):
            page, count = block_table[b, m // size], min(size, int(lengths[b]) - m)
            k, v = k_pool[page, :count].to(wide), v_pool[page, :count].to(wide)
            s = torch.einsum("grd,tgd->grt", x, k) * d**-0.5
            new = torch.maximum(top, s.amax(-1, keepdim=True))
            p, decay = torch.exp(s - new), torch.exp(top - new)
            mass = mass * decay + p.sum(-1, keepdim=True)
            acc = acc * decay + torch.einsum("grt,tgd->grd", p, v)
            top = new
        result.append((acc / mass.where(mass > 0, 1.0)).reshape(H, d))
    return torch.stack(result).to(q.dtype)
