"""Draws from torch's global generator and ignores the seed.
直接用 torch 的全局生成器抽，没管 seed。

symptom: The same seed gives another matrix in each run.
症状：seed 相同，每次的矩阵却不同。

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
        noise = torch.randn(n_heads, max_len, max_len)
        rows = torch.arange(1, max_len + 1)[:, None]
        self.register_buffer("mix", (noise / rows.sqrt()).tril())

    def forward(self, x):
        B, T, D = x.shape
        v = self.w_v(x).view(B, T, self.n_heads, -1).transpose(1, 2)
        y = self.mix[:, :T, :T] @ v
        return self.w_o(y.transpose(1, 2).reshape(B, T, D))
