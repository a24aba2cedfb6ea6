"""Returns all max_len slots.
把 max_len 个槽位全部返回。

symptom: Attention reads empty slots, and every step costs max_len.
症状：注意力读到空槽位，而且每步都要付 max_len 的代价。

cards: kv-01
rung: solved
"""

import torch


class StaticKVCache:
    def __init__(self, B, G, max_len, d, dtype=torch.float32, device=None):
        self.max_len = max_len
        self.k = torch.zeros(B, G, max_len, d, dtype=dtype, device=device)
        self.v = torch.zeros(B, G, max_len, d, dtype=dtype, device=device)

    def update(self, k, v, pos):
        B, G, n, d = k.shape
        L = int(pos.max()) + n
        if L > self.max_len:
            raise ValueError("the cache is full")
        for b in range(B):
            start = int(pos[b])
            self.k[b, :, start : start + n] = k[b]
            self.v[b, :, start : start + n] = v[b]
        return self.k[:], self.v[:]
