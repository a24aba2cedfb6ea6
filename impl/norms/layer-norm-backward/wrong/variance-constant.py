"""Takes the variance for a constant: leaves mean(g·x̂) out.
方差当成常数：漏掉 mean(g·x̂)。

symptom: dx keeps its part along x̂.
症状：dx 里还留着 x̂ 方向的分量。

cards: norm-14
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
    dx = (g - g.mean(-1, keepdim=True)) / sigma
    dgamma = (dy * hat).reshape(-1, D).sum(0)
    dbeta = dy.reshape(-1, D).sum(0)
    return dx.to(dtype), dgamma.to(dtype), dbeta.to(dtype)
