"""Float64: components times cos, partners (by roll) times ± sin."""

from __future__ import annotations

import torch


def apply_rope(x, positions, base=10000.0, layout="interleaved"):
    B, H, T, d = x.shape
    j = torch.arange(d, device=x.device)
    pair = j // 2 if layout == "interleaved" else j % (d // 2)
    angle = positions.reshape(-1, 1, T, 1).double() * torch.pow(
        torch.as_tensor(base, dtype=torch.float64, device=x.device), -2.0 * pair.double() / d
    )
    first = (j % 2 == 0) if layout == "interleaved" else (j < d // 2)
    shift = 1 if layout == "interleaved" else d // 2
    y = x.double()
    other = torch.where(first, -y.roll(-shift, -1), y.roll(shift, -1))
    return (y * angle.cos() + other * angle.sin()).to(x.dtype)
