"""Never applies c_proj.
没有用 c_proj。

symptom: Heads never mix; c_proj gets no gradient.
症状：各头没有混合，c_proj 没有梯度。

cards: head-03
rung: solved
"""
import torch
import torch.nn.functional as F
from torch import nn


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, max_len, dropout=0.0, bias=True):
        super().__init__()
        self.n_heads, self.max_len, self.p = n_heads, max_len, dropout
        self.c_attn = nn.Linear(d_model, 3 * d_model, bias=bias)
        self.c_proj = nn.Linear(d_model, d_model, bias=bias)
        future = torch.ones(max_len, max_len, dtype=torch.bool).triu(1)
        self.register_buffer("future", future, persistent=False)

    def forward(self, x):
        B, T, D = x.shape
        H, d = self.n_heads, D // self.n_heads
        if T > self.max_len:
            raise ValueError("too many tokens")
        q, k, v = (t.view(B, T, H, d).transpose(1, 2) for t in self.c_attn(x).chunk(3, -1))
        scores = q @ k.mT / d**0.5
        scores = scores.masked_fill(self.future[:T, :T], float("-inf"))
        weights = F.dropout(scores.softmax(-1), self.p, self.training)
        out = (weights @ v).transpose(1, 2).reshape(B, T, D)
        return out
