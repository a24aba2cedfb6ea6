"""Reorders "half" into pairs, looks cos and sin up in a float64 table, reorders back."""
import torch


def apply_rope(x, positions, base=10000.0, layout="interleaved"):
    B, H, T, d = x.shape
    order = torch.arange(d, device=x.device)
    if layout == "half":
        order = order.view(2, d // 2).t().reshape(-1)
    y = x.double()[..., order].view(B, H, T, d // 2, 2)
    speed = torch.tensor([base ** (-2 * i / d) for i in range(d // 2)], dtype=torch.float64, device=x.device)
    angle = torch.einsum("...t,p->...tp", positions.double(), speed)
    table = torch.stack([angle.cos(), angle.sin()], -1)
    table = table.unsqueeze(-4) if positions.dim() == 2 else table
    cos, sin = table[..., 0], table[..., 1]
    out = torch.empty_like(y)
    a, b = y[..., 0], y[..., 1]
    out = torch.cat([(a * cos - b * sin)[..., None], (a * sin + b * cos)[..., None]], -1).flatten(-2)
    back = torch.empty_like(order)
    back[order] = torch.arange(d, device=x.device)
    return out[..., back].to(x.dtype)
