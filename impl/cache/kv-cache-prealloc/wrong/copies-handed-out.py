"""Returns copies instead of views.
返回的是副本，不是视图。

symptom: Right, and each step reads and writes the whole cache.
症状：结果对，但每步都把整个 cache 读写一遍。

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
        return self.k[:, :, :L].clone(), self.v[:, :, :L].clone()
