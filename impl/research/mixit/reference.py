"""MixiT's attention: the matrix that mixes positions is random, drawn once, and never sees the input.

Where attention computes softmax(QKᵀ) from the tokens, every head here has a fixed lower triangular matrix M. Value and
output projections train, so the layer is linear in x; which positions are mixed, and how strongly, never changes.
Decisions:
- row i of M has i + 1 independent entries from N(0, 1)/√(i + 1): values of variance 1 keep it at every position;
- M is a buffer: it moves and is saved with the module, and no optimiser touches it;
- it comes from a separate generator, seeded with `seed`; a model passes seed + layer index;
- fewer tokens than max_len take the upper left corner, so a prefix is mixed as in a longer text.

After Dong et al. 2025, arXiv 2506.01115, whose rows are the identity plus noise without its mean; here noise alone.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class MixiTAttention(nn.Module):
    mix: Tensor

    def __init__(self, d_model: int, n_heads: int, max_len: int, seed: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)
        generator = torch.Generator().manual_seed(seed)
        noise = torch.randn(n_heads, max_len, max_len, generator=generator)  # (H, max_len, max_len)
        visible = torch.arange(1, max_len + 1)[:, None]  # (max_len, 1)
        self.register_buffer("mix", (noise / visible.sqrt()).tril())

    def forward(self, x: Tensor) -> Tensor:
        B, T, D = x.shape
        values = self.w_v(x).reshape(B, T, self.n_heads, -1).transpose(1, 2)  # (B, H, T, d)
        mixed = self.mix[:, :T, :T] @ values  # (B, H, T, d)
        out: Tensor = self.w_o(mixed.transpose(1, 2).reshape(B, T, D))
        return out
