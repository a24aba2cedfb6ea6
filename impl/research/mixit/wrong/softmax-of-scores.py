"""Computes the weights from x, by a softmax over its scores.
权重由 x 算出：对分数做 softmax。

symptom: The layer is no longer linear in x: this is ordinary attention.
症状：对 x 不再线性：这就成了普通的注意力。

cards: eval-09, eval-10
rung: solved
"""

import torch
from torch import nn


class MixiTAttention(nn.Module):
    def __init__(self, d_model, n_heads, max_len, seed):
        super().__init__()
        self.n_heads = n_heads
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)
        g = torch.Generator().manual_seed(seed)
        noise = torch.randn(n_heads, max_len, max_len, generator=g)
        rows = torch.arange(1, max_len + 1)[:, None]
        self.register_buffer("mix", (noise / rows.sqrt()).tril())

    def forward(self, x):
        B, T, D = x.shape
        v = self.w_v(x).view(B, T, self.n_heads, -1).transpose(1, 2)
        h = x.view(B, T, self.n_heads, -1).transpose(1, 2)
        s = h @ h.mT / h.shape[-1] ** 0.5
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        y = s.masked_fill(future, float("-inf")).softmax(-1) @ v
        return self.w_o(y.transpose(1, 2).reshape(B, T, D))
