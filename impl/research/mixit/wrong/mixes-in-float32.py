"""Mixes in float32 and does not cast back.
混合用 float32 算，没有转回来。

symptom: In a bfloat16 or float16 model w_o meets a float32 input: RuntimeError.
症状：模型转成 bfloat16 或 float16 后，w_o 遇上 float32 的输入，报 RuntimeError。

cards: prec-07
rung: hardened
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class MixiTAttention(nn.Module):
    mix: Tensor

    def __init__(self, d_model: int, n_heads: int, max_len: int, seed: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)
        generator = torch.Generator().manual_seed(seed)
        noise = torch.randn(n_heads, max_len, max_len, generator=generator)  # (H, max_len, max_len)
        visible = torch.arange(1, max_len + 1)[:, None]  # (max_len, 1)
        self.register_buffer("mix", (noise / visible.sqrt()).tril())

    def forward(self, x: Tensor) -> Tensor:
        B, T, D = x.shape
        values = self.w_v(x).reshape(B, T, self.n_heads, -1).transpose(1, 2)  # (B, H, T, d)
        wide = torch.promote_types(x.dtype, torch.float32)
        mixed = self.mix[:, :T, :T].to(wide) @ values.to(wide)  # (B, H, T, d)
        out: Tensor = self.w_o(mixed.transpose(1, 2).reshape(B, T, D))
        return out
