"""Remembers the longest length and returns that.
记住出现过的最大长度，一直按它返回。

symptom: After a rewind attention reads what was taken back.
症状：回退之后，注意力还会读到已撤回的内容。

cards: kv-21
rung: solved
"""

import torch


class StaticKVCache:
    def __init__(self, B, G, max_len, d, dtype=torch.float32, device=None):
        self.max_len, self.longest = max_len, 0
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
        L = self.longest = max(L, self.longest)
        return self.k[:, :, :L], self.v[:, :, :L]
