"""Keeps cos and sin in bfloat16.
cos、sin 表都存成 bfloat16。

symptom: float32 results have two digits.
症状：float32 的结果只剩两位有效数字。

cards: pos-24
rung: solved
"""
import torch


def apply_rope(x, positions, base=10000.0, layout="interleaved"):
    B, H, T, d = x.shape
    wide = torch.promote_types(x.dtype, torch.float32)
    speed = base ** (-torch.arange(0, d, 2, device=x.device, dtype=wide) / d)
    positions = positions.expand(B, T)
    angle = positions[:, None, :, None].to(wide) * speed
    cos, sin = angle.cos().bfloat16(), angle.sin().bfloat16()
    y = x.to(wide)
    if layout == "interleaved":
        a, b = y[..., 0::2], y[..., 1::2]
        out = torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)
    else:
        a, b = y.chunk(2, -1)
        out = torch.cat((a * cos - b * sin, a * sin + b * cos), -1)
    return out.to(x.dtype)
