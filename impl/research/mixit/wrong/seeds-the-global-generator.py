"""Seeds torch's global generator.
给 torch 的全局生成器设了种子。

symptom: Every layer made afterwards starts from the same random numbers.
症状：之后建的每一层都从同样的随机数开始。

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
        torch.manual_seed(seed)
        noise = torch.randn(n_heads, max_len, max_len)
        rows = torch.arange(1, max_len + 1)[:, None]
        self.register_buffer("mix", (noise / rows.sqrt()).tril())

    def forward(self, x):
        B, T, D = x.shape
        v = self.w_v(x).view(B, T, self.n_heads, -1).transpose(1, 2)
        y = self.mix[:, :T, :T] @ v
        return self.w_o(y.transpose(1, 2).reshape(B, T, D))
