"""Each query over its own prefix, one after another."""

from __future__ import annotations

import torch
from torch import nn


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, max_len, dropout=0.0, bias=True):
        super().__init__()
        self.c_attn = nn.Linear(d_model, 3 * d_model, bias=bias)
        self.c_proj = nn.Linear(d_model, d_model, bias=bias)
        self.d, self.drop = d_model // n_heads, nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(max_len, max_len, dtype=torch.bool).tril(), persistent=False)

    def forward(self, x):
        B, T, D = x.shape
        if len(self.mask) < T:
            raise ValueError("too long")
        q, k, v = self.c_attn(x).unflatten(-1, (3, -1, self.d)).unbind(2)
        rows = []
        for i in range(T):
            s = (q[:, i, None] * k[:, : i + 1]).sum(-1) / self.d**0.5
            w = self.drop(s.softmax(1)).unsqueeze(-1)
            rows.append((w * v[:, : i + 1]).sum(1).flatten(1))
        return self.c_proj(torch.stack(rows, 1))
