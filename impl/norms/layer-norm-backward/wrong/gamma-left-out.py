"""Uses dy where g = dy·γ belongs.
该用 g = dy·γ 的地方用了 dy。

symptom: Right at initialisation, when γ is 1.
症状：γ 初始为 1 时才对。

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
    g = dy
    dx = (g - g.mean(-1, keepdim=True) - hat * (g * hat).mean(-1, keepdim=True)) / sigma
    dgamma = (dy * hat).reshape(-1, D).sum(0)
    dbeta = dy.reshape(-1, D).sum(0)
    return dx.to(dtype), dgamma.to(dtype), dbeta.to(dtype)
