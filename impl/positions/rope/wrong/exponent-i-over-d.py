"""Uses base^(−i/d), i the pair's index.
指数写成 −i/d（i 是对的编号）。

symptom: Pairs turn too fast: long distances alias.
症状：转得太快，远距离混叠。

cards: pos-14
rung: solved
"""
import torch


def apply_rope(x, positions, base=10000.0, layout="interleaved"):
    B, H, T, d = x.shape
    wide = torch.promote_types(x.dtype, torch.float32)
    speed = base ** (-torch.arange(d // 2, device=x.device, dtype=wide) / d)
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
