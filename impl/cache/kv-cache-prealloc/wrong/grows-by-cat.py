"""Joins the new tokens behind the old ones with torch.cat.
用 torch.cat 把新 token 接在后面。

symptom: Every step copies the whole cache.
症状：每一步都把整个 cache 复制一遍。

cards: kv-01, kv-03
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
            for buffer, new in ((self.k, k), (self.v, v)):
                row = torch.cat([buffer[b, :, :start], new[b].to(buffer.dtype), buffer[b, :, start + n :]], dim=1)
                buffer[b] = row
        return self.k[:, :, :L], self.v[:, :, :L]
