"""The textbook form: one slice assignment for each row."""
import torch


class StaticKVCache:
    def __init__(self, B, G, max_len, d, dtype=torch.float32, device=None):
        self.max_len = max_len
        self.k_cache = torch.zeros((B, G, max_len, d), dtype=dtype, device=device)
        self.v_cache = torch.zeros((B, G, max_len, d), dtype=dtype, device=device)

    def update(self, k, v, pos):
        n = k.size(2)
        end = pos.max().item() + n
        if end > self.max_len:
            raise ValueError("sequence longer than max_len")
        for b in range(k.size(0)):
            p = pos[b].item()
            self.k_cache[b, :, p : p + n] = k[b]
            self.v_cache[b, :, p : p + n] = v[b]
        return self.k_cache[:, :, :end], self.v_cache[:, :, :end]
