"""Writes v into both buffers.
两个缓冲区都写了 v。

symptom: Keys are lost.
症状：key 丢了。

cards: kv-21
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
            self.k[b, :, start : start + n] = v[b]
            self.v[b, :, start : start + n] = v[b]
        return self.k[:, :, :L], self.v[:, :, :L]
