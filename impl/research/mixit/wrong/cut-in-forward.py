"""forward cuts the buffer to its lower triangle once more.
forward 里又对 buffer 取了一次下三角。

symptom: A matrix that was loaded or set is not the one that mixes.
症状：载入或改写的矩阵，并不是实际用来混合的那个。

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
        generator = torch.Generator().manual_seed(seed)
        noise = torch.randn(n_heads, max_len, max_len, generator=generator)
        self.register_buffer("mix", torch.tril(noise / torch.arange(1, max_len + 1)[:, None].sqrt()))

    def forward(self, x):
        B, T, D = x.shape
        v = self.w_v(x).view(B, T, self.n_heads, D // self.n_heads).transpose(1, 2)
        y = torch.tril(self.mix[:, :T, :T]) @ v
        return self.w_o(y.transpose(1, 2).reshape(B, T, D))
