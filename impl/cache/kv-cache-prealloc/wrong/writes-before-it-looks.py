"""Writes row by row and raises at the first that does not fit.
逐行写入，写到放不下的那行才抛错。

symptom: After the error the cache holds half of the refused tokens.
症状：抛错之后，被拒绝的 token 已有一半留在 cache 里。

cards: kv-19
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
            if start + n > self.max_len:
                raise ValueError("the cache is full")
            self.k[b, :, start : start + n] = k[b]
            self.v[b, :, start : start + n] = v[b]
        return self.k[:, :, :L], self.v[:, :, :L]
