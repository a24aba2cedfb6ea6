"""Gives positions their batch dimension with unsqueeze_, in the caller's own tensor.
用 unsqueeze_ 给 positions 加 batch 维，改的是调用者的张量。

symptom: No value is wrong, but afterwards the caller's positions are (1, T).
症状：值全对，但之后调用者的 positions 变成了 (1, T)。

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
