"""2×2 matrices for every token and pair, contracted with einsum."""
import math

import torch


def apply_rope(x, positions, base=10000.0, layout="interleaved"):
    wide = torch.promote_types(x.dtype, torch.float32)
    B, H, T, d = x.shape
    i = torch.arange(d // 2, dtype=wide, device=x.device)
    angle = positions.to(wide).unsqueeze(-1) * torch.exp(-2 * i / d * math.log(base))
    if angle.ndim == 2:
        angle = angle.expand(B, T, d // 2)
    c, s = torch.cos(angle), torch.sin(angle)
    R = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)
    if layout == "interleaved":
        v = x.to(wide).unflatten(-1, (d // 2, 2))
        return torch.einsum("btprc,bhtpc->bhtpr", R, v).flatten(-2).to(x.dtype)
    v = x.to(wide).unflatten(-1, (2, d // 2))
    return torch.einsum("btprc,bhtcp->bhtrp", R, v).flatten(-2).to(x.dtype)
