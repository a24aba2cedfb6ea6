"""Pairs i with i + d/2 in both layouts.
两种 layout 都用 i 配 i + d/2。

symptom: Training works, loaded weights give garbage.
症状：从头训练没问题，加载的权重全乱。

cards: pos-13
rung: solved
"""
import torch


def apply_rope(x, positions, base=10000.0, layout="interleaved"):
    B, H, T, d = x.shape
    wide = torch.promote_types(x.dtype, torch.float32)
    speed = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    positions = positions.expand(B, T)
    angle = positions[:, None, :, None].to(wide) * speed
    cos, sin = angle.cos(), angle.sin()
    y = x.to(wide)
    if layout not in ("interleaved", "half"):
        a, b = y[..., 0::2], y[..., 1::2]
        out = torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)
    else:
        a, b = y.chunk(2, -1)
        out = torch.cat((a * cos - b * sin, a * sin + b * cos), -1)
    return out.to(x.dtype)
