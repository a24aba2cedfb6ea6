"""Takes the softmax of the drawn matrix.
对抽到的矩阵再做 softmax。

symptom: All weights are positive and sum to 1: an average, where signs are due.
症状：权重全为正且和为 1：成了平均，本应有正有负。

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
        mix = self.mix[:, :T, :T]
        y = mix.masked_fill(mix == 0, float("-inf")).softmax(-1) @ v
        return self.w_o(y.transpose(1, 2).reshape(B, T, D))
