"""Allocates on the CPU whatever device is asked for.
不管指定哪个设备，都建在 CPU 上。

symptom: Every step copies keys from the GPU.
症状：每一步都把 key 从 GPU 拷出来。

cards: kv-01
rung: hardened
"""

import torch


class StaticKVCache:
    def __init__(self, B, G, max_len, d, dtype=torch.float32, device=None):
        self.max_len = max_len
        self.k = torch.zeros(B, G, max_len, d, dtype=dtype)
        self.v = torch.zeros(B, G, max_len, d, dtype=dtype)

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
