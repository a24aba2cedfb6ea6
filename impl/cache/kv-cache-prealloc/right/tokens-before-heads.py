"""Tokens before heads, (B, max_len, G, d), written through index_put_ on a flattened view."""
import torch


class StaticKVCache:
    def __init__(self, B, G, max_len, d, dtype=torch.float32, device=None):
        self.keys, self.vals = (torch.zeros(B, max_len, G, d, dtype=dtype, device=device) for _ in range(2))

    def update(self, k, v, pos):
        B, G, n, d = k.shape
        room = self.keys.shape[1]
        if (pos + n > room).any():
            raise ValueError("full")
        flat = (torch.arange(B, device=pos.device) * room + pos)[:, None] + torch.arange(n, device=pos.device)
        with torch.no_grad():
            for buffer, new in ((self.keys, k), (self.vals, v)):
                buffer.view(B * room, G, d)[flat.reshape(-1)] = new.transpose(1, 2).reshape(B * n, G, d).to(buffer.dtype)
        L = int(pos.max()) + n
        return self.keys[:, :L].transpose(1, 2), self.vals[:, :L].transpose(1, 2)
