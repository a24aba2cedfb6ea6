"""Every query's own prefix; the mask says how long it is."""
import math

import torch
from torch import nn


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, max_len, dropout=0.0, bias=True):
        super().__init__()
        self.n_heads = n_heads
        self.c_attn = nn.Linear(d_model, 3 * d_model, bias=bias)
        self.c_proj = nn.Linear(d_model, d_model, bias=bias)
        self.drop = nn.Dropout(dropout)
        self.register_buffer("tril", torch.ones(1, max_len, max_len, dtype=torch.bool).tril(), persistent=False)

    def forward(self, x):
        T = x.shape[1]
        if self.tril.shape[-1] < T:
            raise ValueError("context exceeded")
        q, k, v = (t.unflatten(-1, (self.n_heads, -1)).movedim(1, 2) for t in self.c_attn(x).tensor_split(3, dim=2))
        rows = []
        for t in range(T):
            scores = (q[:, :, t : t + 1] * k[:, :, : t + 1]).sum(-1) / math.sqrt(q.shape[-1])
            weights = self.drop(torch.softmax(scores, -1))
            rows.append((weights[..., None] * v[:, :, : t + 1]).sum(2).flatten(1))
        return self.c_proj(torch.stack(rows, 1))
