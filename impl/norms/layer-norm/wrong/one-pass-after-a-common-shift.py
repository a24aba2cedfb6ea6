"""Takes the mean of everything off first and then E[x²] − E[x]² in one pass."""

from __future__ import annotations

import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    centred = y - y.mean(dim=-1, keepdim=True)
    z = y - y.mean().detach()
    variance = z.square().mean(-1, keepdim=True) - z.mean(-1, keepdim=True).square()
    normal = centred / (variance + eps).sqrt()
    return (normal * gamma.to(wide) + beta.to(wide)).to(x.dtype)
