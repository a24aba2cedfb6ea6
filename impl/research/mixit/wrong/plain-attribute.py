"""Keeps the matrix as a plain attribute.
矩阵只是普通属性。

symptom: It stays behind when the module moves to another device or dtype.
症状：模块换设备、换 dtype 时它留在原处。

cards: mask-17
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
        self.mix = (noise / rows.sqrt()).tril()

    def forward(self, x):
        B, T, D = x.shape
        v = self.w_v(x).view(B, T, self.n_heads, -1).transpose(1, 2)
        y = self.mix[:, :T, :T] @ v
        return self.w_o(y.transpose(1, 2).reshape(B, T, D))
