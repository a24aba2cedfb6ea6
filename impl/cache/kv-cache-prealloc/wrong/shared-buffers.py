"""Keeps one pair of buffers for all caches of a shape.
形状相同的 cache 共用一对缓冲区。

symptom: Two requests read each other's keys.
症状：两个请求互相读到对方的 key。

cards: kv-22
rung: solved
"""

import torch

buffers = {}


class StaticKVCache:
    def __init__(self, B, G, max_len, d, dtype=torch.float32, device=None):
        self.max_len = max_len
        key = (B, G, max_len, d, dtype, str(device))
        if key not in buffers:
            buffers[key] = [torch.zeros(B, G, max_len, d, dtype=dtype, device=device) for _ in range(2)]
        self.k, self.v = buffers[key]

    def update(self, k, v, pos):
        B, G, n, d = k.shape
        L = int(pos.max()) + n
        if L > self.max_len:
            raise ValueError("the cache is full")
        for b in range(B):
            start = int(pos[b])
            self.k[b, :, start : start + n] = k[b]
            self.v[b, :, start : start + n] = v[b]
        return self.k[:, :, :L], self.v[:, :, :L]
