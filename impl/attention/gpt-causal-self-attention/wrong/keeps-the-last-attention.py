"""Keeps each call's weights in the module.
每次调用都把注意力权重留在模块里。

symptom: A (B, H, T, T) tensor outlives the call.
症状：调用结束后 (B, H, T, T) 张量仍占着内存。

cards: head-12
rung: solved
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int, max_len: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.max_len = max_len
        self.c_attn = nn.Linear(d_model, 3 * d_model, bias=bias)
        self.c_proj = nn.Linear(d_model, d_model, bias=bias)
        self.drop = nn.Dropout(dropout)
        self.last_attention = None
        mask = torch.tril(torch.ones(max_len, max_len, dtype=torch.bool))
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        b, t, width = x.shape
        if t > self.max_len:
            raise ValueError(f"sequence of {t} is longer than max_len {self.max_len}")
        q, k, v = self.c_attn(x).chunk(3, dim=-1)
        q, k, v = (z.reshape(b, t, self.n_heads, -1).transpose(1, 2) for z in (q, k, v))
        scores = q.float() @ k.float().transpose(-2, -1) if x.dtype in (torch.float16, torch.bfloat16) else q @ k.mT
        scores = scores / math.sqrt(width // self.n_heads)
        scores = scores.masked_fill(~self.mask[:t, :t], float("-inf"))
        weights = self.drop(torch.softmax(scores, dim=-1)).to(x.dtype)
        self.last_attention = weights.detach()
        out = (weights @ v).transpose(1, 2).reshape(b, t, width)
        return self.c_proj(out)
