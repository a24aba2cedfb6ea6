"""Builds cos and sin as two equal halves for interleaved pairs, too.
interleaved 布局也用前后两半重复的 cos/sin 表。

symptom: The two components of an interleaved pair turn by different angles; the half layout is right.
症状：interleaved 的一对分量转的角度不同；half 布局是对的。

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
    table = torch.cat([angle, angle], dim=-1)  # (B, 1, T, d)
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
