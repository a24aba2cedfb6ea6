"""Takes the softmax in float32 and does not cast back.
softmax 用 float32 算，没有转回来。

symptom: In a bfloat16 or float16 model float32 weights meet 16-bit values: RuntimeError.
症状：模型转成 bfloat16 或 float16 后，float32 的权重遇上 16 位的 value，报 RuntimeError。

cards: prec-07
rung: hardened
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class CausalSelfAttention(nn.Module):
    future: Tensor

    def __init__(self, d_model: int, n_heads: int, max_len: int, dropout: float = 0.0, bias: bool = True) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.max_len = max_len
        self.c_attn = nn.Linear(d_model, 3 * d_model, bias=bias)
        self.c_proj = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)
        future = torch.ones(max_len, max_len, dtype=torch.bool).triu(1)  # True = hidden
        self.register_buffer("future", future, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        B, T, D = x.shape
        if self.max_len < T:
            raise ValueError(f"{T} tokens do not fit into a context of {self.max_len}")

        q, k, v = (split_heads(part, self.n_heads) for part in self.c_attn(x).chunk(3, dim=-1))  # (B, H, T, d) each
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, T)
        scores = scores.masked_fill(self.future[:T, :T], float("-inf"))
        weights = self.dropout(torch.softmax(scores, dim=-1, dtype=torch.promote_types(x.dtype, torch.float32)))

        mixed = (weights @ v).transpose(1, 2).reshape(B, T, D)  # heads side by side again
        out: Tensor = self.c_proj(mixed)
        return out


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    B, T, D = x.shape
    return x.reshape(B, T, n_heads, D // n_heads).transpose(1, 2)  # (B, H, T, d)
