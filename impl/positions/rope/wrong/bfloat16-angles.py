"""Computes the angles in the dtype of x.
角度用了 x 的 dtype。

symptom: In bfloat16 tokens past 256 get their neighbours' angles.
症状：bfloat16 下，256 之后用上了邻居的角度。

cards: pos-24
rung: hardened
"""
import torch


def apply_rope(x, positions, base=10000.0, layout="interleaved"):
    B, H, T, d = x.shape
    wide = x.dtype
    speed = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    positions = positions.expand(B, T)
    angle = positions[:, None, :, None].to(wide) * speed
    cos, sin = angle.cos(), angle.sin()
    y = x.to(wide)
    if layout == "interleaved":
        a, b = y[..., 0::2], y[..., 1::2]
        out = torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)
    else:
        a, b = y.chunk(2, -1)
        out = torch.cat((a * cos - b * sin, a * sin + b * cos), -1)
    return out.to(x.dtype)
