"""Wraps around at max_len.
到 max_len 就绕回开头。

symptom: The oldest keys are overwritten, and nothing says so.
症状：最旧的 key 被悄悄覆盖。

cards: sparse-03
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
        for b in range(B):
            start = int(pos[b])
            at = torch.arange(start, start + n, device=self.k.device) % self.max_len
            self.k[b, :, at] = k[b].to(self.k.dtype)
            self.v[b, :, at] = v[b].to(self.v.dtype)
        return self.k[:, :, : min(L, self.max_len)], self.v[:, :, : min(L, self.max_len)]
