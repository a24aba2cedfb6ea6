"""Head h is drawn with seed + h.
第 h 个头用 seed + h 抽取。

symptom: Head 1 of one layer is head 0 of the next, which has the seed after it.
症状：这一层的第 1 个头，就是下一层（seed 加 1）的第 0 个头。

cards: eval-09, mask-09
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
        rows = torch.arange(1, max_len + 1)[:, None].sqrt()
        drawn = [
            torch.randn(max_len, max_len, generator=torch.Generator().manual_seed(seed + head)) / rows
            for head in range(n_heads)
        ]
        self.register_buffer("mix", torch.tril(torch.stack(drawn)))

    def forward(self, x):
        B, T, D = x.shape
        v = self.w_v(x).view(B, T, self.n_heads, D // self.n_heads).transpose(1, 2)
        y = self.mix[:, :T, :T] @ v
        return self.w_o(y.transpose(1, 2).reshape(B, T, D))
