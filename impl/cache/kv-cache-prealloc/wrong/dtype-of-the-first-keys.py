"""Takes the dtype of the keys that come, not the one asked for.
按传进来的 k 的 dtype 存，不管指定的 dtype。

symptom: A bf16 cache takes twice the memory as soon as keys come in float32.
症状：key 以 float32 到来，bf16 的 cache 就占了两倍内存。

cards: kv-18
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
        if self.k.dtype != k.dtype:
            self.k, self.v = self.k.to(k.dtype), self.v.to(k.dtype)
        for b in range(B):
            start = int(pos[b])
            self.k[b, :, start : start + n] = k[b]
            self.v[b, :, start : start + n] = v[b]
        return self.k[:, :, :L], self.v[:, :, :L]
