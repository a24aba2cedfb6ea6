"""Draws a new matrix in every forward.
每次 forward 都重新抽一个矩阵。

symptom: The layer gives another answer each time; W_V never learns what it is mixed with.
症状：同样的输入每次输出都不同，W_V 学不到东西。

cards: eval-09
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
        noise = torch.randn(self.n_heads, T, T, dtype=x.dtype, device=x.device)
        mix = (noise / torch.arange(1, T + 1, device=x.device)[:, None].sqrt()).tril()
        y = mix.to(x.dtype) @ v
        return self.w_o(y.transpose(1, 2).reshape(B, T, D))
