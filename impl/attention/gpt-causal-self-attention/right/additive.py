"""A buffer of 0 and −inf, added to the scores; einsum."""
import torch
import torch.nn.functional as F
from torch import nn


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, max_len, dropout=0.0, bias=True):
        super().__init__()
        self.heads, self.p = n_heads, dropout
        self.c_attn = nn.Linear(d_model, d_model * 3, bias)
        self.c_proj = nn.Linear(d_model, d_model, bias)
        self.register_buffer("mask", torch.full((max_len, max_len), float("-inf")).triu(1), persistent=False)

    def forward(self, x):
        T = x.shape[1]
        if T > self.mask.shape[0]:
            raise ValueError(f"{T} > {self.mask.shape[0]}")
        qkv = self.c_attn(x).unflatten(2, (3, self.heads, -1))
        q, k, v = qkv.unbind(2)
        scores = torch.einsum("bthd,bshd->bhts", q, k) / q.shape[-1] ** 0.5 + self.mask[:T, :T]
        weights = F.dropout(scores.softmax(-1), self.p, self.training)
        return self.c_proj(torch.einsum("bhts,bshd->bthd", weights, v).flatten(2))
