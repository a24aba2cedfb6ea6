"""The backward pass of layer normalisation, by hand.

With x̂ = (x − μ)/σ and g = dy·γ, the gradient at x̂:
- x̂ does not change when all features of a token are shifted, so the mean of g drops out of dx;
- nor (for small eps) when they are scaled, so the part of g along x̂ drops out as well;
- the rest is divided by σ: dx = (g − mean(g) − x̂·mean(g·x̂))/σ;
- γ and β are shared by all tokens: their gradients are sums over them.

float16 and bfloat16 are computed in float32. Ba et al. 2016, arXiv 1607.06450.
"""

from __future__ import annotations

import torch
from torch import Tensor


def layer_norm_backward(dy: Tensor, x: Tensor, gamma: Tensor, eps: float = 1e-5) -> tuple[Tensor, Tensor, Tensor]:
    dtype, D = x.dtype, x.shape[-1]
    if dtype in (torch.float16, torch.bfloat16):
        dy, x, gamma = dy.float(), x.float(), gamma.float()

    centred = x - x.mean(dim=-1, keepdim=True)  # (..., D)
    sigma = (centred.square().mean(dim=-1, keepdim=True) + eps).sqrt()  # (..., 1)
    hat = centred / sigma  # (..., D)

    g = dy * gamma  # (..., D)
    dx = (g - g.mean(dim=-1, keepdim=True) - hat * (g * hat).mean(dim=-1, keepdim=True)) / sigma

    dgamma = (dy * hat).reshape(-1, D).sum(dim=0)  # (D,)
    dbeta = dy.reshape(-1, D).sum(dim=0)  # (D,)
    return dx.to(dtype), dgamma.to(dtype), dbeta.to(dtype)
