"""Splits the features into heads with the head as the last axis.
拆头时把头放在了最后一维。

symptom: Channel c goes to head c mod H instead of c // d.
症状：第 c 个通道进了第 c mod H 个头，而不是 c // d。

cards: head-12
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
        v = self.w_v(x).view(B, T, -1, self.n_heads).permute(0, 3, 1, 2)
        y = self.mix[:, :T, :T] @ v
        return self.w_o(y.transpose(1, 2).reshape(B, T, D))
