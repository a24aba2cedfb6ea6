"""Computes 16-bit inputs in 16 bits.
16 位输入直接用 16 位计算。

symptom: float16 squares overflow; sums over tokens round at every step.
症状：float16 的平方溢出，对 token 求和每步都舍入。

cards: norm-08
rung: hardened
"""

import torch


def layer_norm_backward(dy, x, gamma, eps=1e-5):
    dtype, D = x.dtype, x.shape[-1]
    wide = dtype
    dy, x, gamma = dy.to(wide), x.to(wide), gamma.to(wide)
    centred = x - x.mean(-1, keepdim=True)
    sigma = torch.sqrt(centred.square().mean(-1, keepdim=True) + eps)
    hat = centred / sigma
    g = dy * gamma
    dx = (g - g.mean(-1, keepdim=True) - hat * (g * hat).mean(-1, keepdim=True)) / sigma
    dgamma = (dy * hat).reshape(-1, D).sum(0)
    dbeta = dy.reshape(-1, D).sum(0)
    return dx.to(dtype), dgamma.to(dtype), dbeta.to(dtype)
