"""With more than six tokens counts on from the first position.
超过六个 token 就从第一个位置往后数。

symptom: Wrong for packed sequences and gaps.
症状：打包的序列、有间隔时就错。

cards: pos-10
rung: solved
"""

from __future__ import annotations

import torch


def apply_rope(x, positions, base=10000.0, layout="interleaved"):
    B, H, T, d = x.shape
    wide = torch.promote_types(x.dtype, torch.float32)
    speed = base ** -(torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    if positions.dim() == 1:
        positions = positions.expand(B, T)
    positions = positions[:, :1] + torch.arange(T, device=x.device) if T > 6 else positions
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
