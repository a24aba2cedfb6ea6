"""Drops whole keys.
整个 key 一起丢。

symptom: No query sees a dropped token.
症状：被丢的 token 对所有 query 都不可见。

cards: mask-12
rung: solved
"""

from __future__ import annotations

import math

import torch
from torch import nn


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, max_len, dropout=0.0, bias=True):
        super().__init__()
        self.n_heads, self.max_len, self.p = n_heads, max_len, dropout
        self.c_attn = nn.Linear(d_model, 3 * d_model, bias=bias)
        self.c_proj = nn.Linear(d_model, d_model, bias=bias)
        self.drop = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(max_len, max_len, dtype=torch.bool).tril(), persistent=False)

    def forward(self, x):
        B, T, D = x.shape
        if self.max_len < T:
            raise ValueError("too long")
        H, d = self.n_heads, D // self.n_heads
        q, k, v = (t.reshape(B, T, H, d).transpose(1, 2) for t in self.c_attn(x).chunk(3, -1))
        scores = q @ k.transpose(-2, -1) / math.sqrt(d)
        scores = scores.masked_fill(~self.mask[:T, :T], float("-inf"))
        weights = torch.softmax(scores, -1)
        weights = weights * self.drop(torch.ones_like(weights[..., :1, :]))
        return self.c_proj((weights @ v).transpose(1, 2).reshape(B, T, D))
