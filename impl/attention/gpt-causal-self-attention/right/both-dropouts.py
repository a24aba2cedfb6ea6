"""Both dropouts of GPT-2; an additive float32 mask."""

from __future__ import annotations

import torch
from torch import nn


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, max_len, dropout=0.0, bias=True):
        super().__init__()
        self.heads = n_heads
        self.c_attn = nn.Linear(d_model, 3 * d_model, bias=bias)
        self.c_proj = nn.Linear(d_model, d_model, bias=bias)
        self.attn_drop, self.resid_drop = nn.Dropout(dropout), nn.Dropout(dropout)
        self.register_buffer("bias", torch.full((max_len, max_len), -torch.inf).triu(1), persistent=False)

    def forward(self, x):
        B, T, D = x.size()
        if self.bias.shape[0] < T:
            raise ValueError(T)
        q, k, v = self.c_attn(x).split(D, dim=2)
        cut = lambda t: t.view(B, T, self.heads, D // self.heads).transpose(1, 2)
        att = (cut(q) * (D // self.heads) ** -0.5) @ cut(k).mT + self.bias[:T, :T]
        att = self.attn_drop(torch.exp(att - att.logsumexp(-1, keepdim=True)))
        return self.resid_drop(self.c_proj((att @ cut(v)).transpose(1, 2).contiguous().view(B, T, D)))
