"""Unsqueezes the caller's positions in place.
对调用者的 positions 做 unsqueeze_。

symptom: Afterwards the caller's positions are (1, T).
症状：之后 positions 变成 (1, T)。

cards: pos-09
rung: solved
"""
import torch


def apply_rope(x, positions, base=10000.0, layout="interleaved"):
    half = x.shape[-1] // 2
    if positions.dim() == 1:
        positions.unsqueeze_(0)
    pair = torch.arange(half, device=x.device, dtype=torch.float64)
    theta = positions[:, None, :, None].double() * base ** (-pair / half)  # (B or 1, 1, T, d/2)
    wide = torch.promote_types(x.dtype, torch.float32)
    cos, sin = theta.cos().to(wide), theta.sin().to(wide)
    shape, dim = ((half, 2), -1) if layout == "interleaved" else ((2, half), -2)
    a, b = x.to(wide).unflatten(-1, shape).unbind(dim)
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=dim).flatten(-2).to(x.dtype)
