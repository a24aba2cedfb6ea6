"""Sums over the first dimension only.
只对第一维求和。

symptom: Right for (N, D); one row too many dimensions otherwise.
症状：(N, D) 时才对，否则多出维度。

cards: norm-06
rung: solved
"""

import torch


def layer_norm_backward(dy, x, gamma, eps=1e-5):
    dtype, D = x.dtype, x.shape[-1]
    wide = torch.promote_types(dtype, torch.float32)
    dy, x, gamma = dy.to(wide), x.to(wide), gamma.to(wide)
    centred = x - x.mean(-1, keepdim=True)
    sigma = torch.sqrt(centred.square().mean(-1, keepdim=True) + eps)
    hat = centred / sigma
    g = dy * gamma
    dx = (g - g.mean(-1, keepdim=True) - hat * (g * hat).mean(-1, keepdim=True)) / sigma
    dgamma = (dy * hat).sum(0)
    dbeta = dy.sum(0)
    return dx.to(dtype), dgamma.to(dtype), dbeta.to(dtype)
