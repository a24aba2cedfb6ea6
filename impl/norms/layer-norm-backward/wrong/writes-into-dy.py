"""Multiplies the caller's dy by γ in place.
直接在调用者的 dy 上乘 γ。

symptom: What flows on to other branches is scaled.
症状：传给其他支路的梯度被改掉了。

cards: norm-13
rung: solved
"""

import torch


def layer_norm_backward(dy, x, gamma, eps=1e-5):
    dtype, D = x.dtype, x.shape[-1]
    wide = torch.promote_types(dtype, torch.float32)
    up, x, gamma = dy.to(wide), x.to(wide), gamma.to(wide)
    centred = x - x.mean(-1, keepdim=True)
    sigma = torch.sqrt(centred.square().mean(-1, keepdim=True) + eps)
    hat = centred / sigma
    dgamma = (up * hat).reshape(-1, D).sum(0)
    dbeta = up.reshape(-1, D).sum(0)
    g = up.mul_(gamma)
    dx = (g - g.mean(-1, keepdim=True) - hat * (g * hat).mean(-1, keepdim=True)) / sigma
    return dx.to(dtype), dgamma.to(dtype), dbeta.to(dtype)
