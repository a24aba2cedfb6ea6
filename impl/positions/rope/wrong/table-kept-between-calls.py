"""Keeps the first call's frequencies for ever.
一直用第一次的频率表。

symptom: Another base gives the first one's answer.
症状：换了 base，得到的还是旧结果。

cards: pos-18
rung: solved
"""
import torch

tables = {}


def apply_rope(x, positions, base=10000.0, layout="interleaved"):
    B, H, T, d = x.shape
    wide = torch.promote_types(x.dtype, torch.float32)
    speed = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    positions = positions.expand(B, T)
    key = (d, wide, x.device)
    speed = tables.setdefault(key, speed)
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
