"""Repeats each angle twice in a row, for the half layout too.
half 布局也用逐个重复两次的角度表。

symptom: The two components of a half pair turn by different angles; the interleaved layout is right.
症状：half 布局的一对分量转的角度不同；interleaved 是对的。

cards: pos-13
rung: solved
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor


def apply_rope(
    x: Tensor, positions: Tensor, base: float = 10000.0, layout: Literal["interleaved", "half"] = "interleaved"
) -> Tensor:
    B, _, T, d = x.shape
    wide = torch.promote_types(x.dtype, torch.float32)

    exponent = torch.arange(0, d, 2, device=x.device, dtype=wide) / d  # (d/2,), 2i/d
    speed = base**-exponent  # (d/2,), radians per position
    if positions.dim() == 1:
        positions = positions.expand(B, T)
    angle = positions[:, None, :, None].to(wide) * speed  # (B, 1, T, d/2)
    table = angle.repeat_interleave(2, dim=-1)  # (B, 1, T, d)
    cos, sin = pairs(table.cos(), layout), pairs(table.sin(), layout)

    a, b = pairs(x.to(wide), layout)  # (B, H, T, d/2) each
    turned = a * cos[0] - b * sin[0], a * sin[1] + b * cos[1]

    if layout == "interleaved":
        result = torch.stack(turned, dim=-1).flatten(-2)  # (B, H, T, d)
    else:
        result = torch.cat(turned, dim=-1)  # (B, H, T, d)
    return result.to(x.dtype)


def pairs(x: Tensor, layout: str) -> tuple[Tensor, Tensor]:
    if layout == "interleaved":
        return x[..., 0::2], x[..., 1::2]
    half = x.shape[-1] // 2
    return x[..., :half], x[..., half:]
