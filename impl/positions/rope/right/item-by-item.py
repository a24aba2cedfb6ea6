"""One batch item at a time, written by slices into a tensor of its own."""

from __future__ import annotations

import torch


def apply_rope(x, positions, base=10000.0, layout="interleaved"):
    B, H, T, d = x.shape
    kind = torch.promote_types(x.dtype, torch.float32)
    first, second = (
        (slice(0, d, 2), slice(1, d, 2)) if layout == "interleaved" else (slice(0, d // 2), slice(d // 2, d))
    )
    speed = torch.tensor([base ** (-2 * i / d) for i in range(d // 2)], dtype=kind, device=x.device)
    items = []
    for b in range(B):
        p = positions if positions.ndim == 1 else positions[b]
        t = torch.outer(p.to(kind), speed)
        u, v = x[b, :, :, first].to(kind), x[b, :, :, second].to(kind)
        r = torch.empty(H, T, d, dtype=kind, device=x.device)
        r[..., first] = u * t.cos() - v * t.sin()
        r[..., second] = v * t.cos() + u * t.sin()
        items.append(r)
    return torch.stack(items).to(x.dtype)
