"""Builds cos and sin as two equal halves, but turns neighbouring pairs.
cos/sin 表前后两半重复，转的却是相邻的一对。

symptom: The two components of a pair turn by different angles: lengths change with the position.
症状：一对分量转的角度不同，向量长度随位置变化。

cards: pos-13
rung: solved
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

Cache = dict[str, Tensor]


def rope_decode_step(
    q: Tensor, k: Tensor, v: Tensor, cache: Cache, pos: Tensor, base: float = 10000.0
) -> tuple[Tensor, Cache]:
    q, k, v = turned(q, pos, base), turned(k, pos, base), v.clone()
    if cache:
        k = torch.cat([cache["k"], k], dim=2)  # (B, H, t + 1, d)
        v = torch.cat([cache["v"], v], dim=2)
    wide = torch.promote_types(q.dtype, torch.float32)
    scores = q.to(wide) @ k.to(wide).transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, 1, t + 1)
    out = (torch.softmax(scores, dim=-1) @ v.to(wide)).to(q.dtype)  # (B, H, 1, d)
    return out, {"k": k, "v": v}


def turned(x: Tensor, pos: Tensor, base: float) -> Tensor:
    d = x.shape[-1]
    frequency = base ** (-torch.arange(0, d, 2, dtype=torch.float64, device=x.device) / d)  # (d/2,)
    angle = pos[:, None, :, None].to(torch.float64) * frequency  # (B, 1, 1, d/2)
    wide = torch.promote_types(x.dtype, torch.float32)
    table = torch.cat([angle, angle], dim=-1)  # (B, 1, 1, d)
    cos, sin = table.cos().to(wide), table.sin().to(wide)
    a, b = x[..., 0::2].to(wide), x[..., 1::2].to(wide)  # (B, H, 1, d/2) each
    return torch.stack([a * cos[..., 0::2] - b * sin[..., 0::2], a * sin[..., 1::2] + b * cos[..., 1::2]], dim=-1).flatten(-2).to(x.dtype)
