"""Statistics of the row minus its first feature, folded into one scale and shift."""

from __future__ import annotations

import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    y = x.to(torch.promote_types(x.dtype, torch.float32))
    z = y - y[..., :1].detach()
    variance, mean = torch.var_mean(z, dim=-1, unbiased=False, keepdim=True)
    scale = gamma.to(y.dtype) / torch.sqrt(variance + eps)
    return (z * scale + (beta.to(y.dtype) - mean * scale)).to(x.dtype)
