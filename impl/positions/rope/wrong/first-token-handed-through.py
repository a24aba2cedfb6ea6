"""Returns a view of x for one token at position 0.
位置 0 的单个 token 返回 x 的视图。

symptom: Changing the result in place changes x.
症状：原地修改结果，x 也跟着变。

cards: pos-09
rung: hardened
"""

from __future__ import annotations

import torch


def apply_rope(x, positions, base=10000.0, layout="interleaved"):
    B, H, T, d = x.shape
    if T == 1 and x.device.type == "cpu" and not bool(positions.any()):
        return x.view_as(x)
    wide = torch.promote_types(x.dtype, torch.float32)
    speed = base ** -(torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    if positions.dim() == 1:
        positions = positions.expand(B, T)
    angle = positions[:, None, :, None].to(wide) * speed
    cos, sin = angle.cos(), angle.sin()
    y = x.to(wide)
    if layout == "interleaved":
        a, b = y[..., 0::2], y[..., 1::2]
        out = torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)
    else:
        a, b = y[..., : d // 2], y[..., d // 2 :]
        out = torch.cat((a * cos - b * sin, a * sin + b * cos), -1)
    return out.to(x.dtype)
