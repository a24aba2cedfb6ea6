"""Computes the variance as E[x²] − E[x]².
方差用 E[x²] − E[x]² 算。

symptom: Every digit is lost around 10⁴.
症状：均值到 10⁴ 时一位都不剩。

cards: norm-04
rung: solved
"""

import torch


def layer_norm_backward(dy, x, gamma, eps=1e-5):
    dtype, D = x.dtype, x.shape[-1]
    wide = torch.promote_types(dtype, torch.float32)
    dy, x, gamma = dy.to(wide), x.to(wide), gamma.to(wide)
    centred = x - x.mean(-1, keepdim=True)
    sigma = torch.sqrt((x.square().mean(-1, keepdim=True) - x.mean(-1, keepdim=True) ** 2).clamp(min=0) + eps)
    hat = centred / sigma
    g = dy * gamma
    dx = (g - g.mean(-1, keepdim=True) - hat * (g * hat).mean(-1, keepdim=True)) / sigma
    dgamma = (dy * hat).reshape(-1, D).sum(0)
    dbeta = dy.reshape(-1, D).sum(0)
    return dx.to(dtype), dgamma.to(dtype), dbeta.to(dtype)
