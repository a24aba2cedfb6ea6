"""Computes under no_grad.
全程 no_grad。

symptom: W_Q and W_K do not learn.
症状：W_Q、W_K 学不动。

cards: pos-09
rung: solved
"""
import torch


@torch.no_grad()
def apply_rope(x, positions, base=10000.0, layout="interleaved"):
    B, H, T, d = x.shape
    wide = torch.promote_types(x.dtype, torch.float32)
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
