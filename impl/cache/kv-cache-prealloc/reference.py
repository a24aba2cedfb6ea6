"""A KV cache of fixed size: buffers are allocated once, an update writes the new tokens into their slots.

`torch.cat` would copy the whole past for every token; here a step writes n tokens and hands out views. Decisions:
- row b of the batch is written at pos[b] … pos[b] + n − 1: rows may be at different places, and go back;
- the views end at L = max(pos) + n: slots never written hold 0, slots behind a row's tokens hold older data, so attention
  must mask by length;
- an update that does not fit raises before anything is written.

Hugging Face's StaticCache keeps such buffers; where shapes stay the same too, CUDA graphs can be replayed.
"""

from __future__ import annotations

import torch
from torch import Tensor


class StaticKVCache:
    def __init__(
        self,
        B: int,
        G: int,
        max_len: int,
        d: int,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ) -> None:
        self.k = torch.zeros(B, G, max_len, d, dtype=dtype, device=device)
        self.v = torch.zeros_like(self.k)

    def update(self, k: Tensor, v: Tensor, pos: Tensor) -> tuple[Tensor, Tensor]:
        B, _, n, _ = k.shape
        max_len, L = self.k.shape[2], int(pos.max()) + n
        if max_len < L:
            raise ValueError(f"update: {L} slots are needed, the cache has {max_len}; make it larger or rewind")
        row = torch.arange(B, device=pos.device)[:, None]  # (B, 1)
        slot = pos[:, None] + torch.arange(n, device=pos.device)  # (B, n)
        self.k[row, :, slot] = k.detach().transpose(1, 2).to(self.k.dtype)  # (B, n, G, d)
        self.v[row, :, slot] = v.detach().transpose(1, 2).to(self.v.dtype)
        return self.k[:, :, :L], self.v[:, :, :L]  # (B, G, L, d), views
