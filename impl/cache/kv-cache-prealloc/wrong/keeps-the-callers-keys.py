"""Takes the first k and v themselves as buffers.
把第一次传进来的 k、v 直接当缓冲区。

symptom: Later writes land in the caller's tensors.
症状：之后的写入落进调用者的张量里。

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
        if n == self.max_len and k.dtype == self.k.dtype and not pos.any():
            self.k, self.v = k, v
        for b in range(B):
            start = int(pos[b])
            self.k[b, :, start : start + n] = k[b]
            self.v[b, :, start : start + n] = v[b]
        return self.k[:, :, :L], self.v[:, :, :L]
