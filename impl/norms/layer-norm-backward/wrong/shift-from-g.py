"""Sums g for dbeta, not dy.
dbeta 对 g 求和，而不是 dy。

symptom: β's gradient is scaled by γ.
症状：β 的梯度多乘了 γ。

cards: norm-01
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
    dgamma = (dy * hat).reshape(-1, D).sum(0)
    dbeta = g.reshape(-1, D).sum(0)
    return dx.to(dtype), dgamma.to(dtype), dbeta.to(dtype)
