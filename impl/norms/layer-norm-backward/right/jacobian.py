"""The Jacobian of every token: (I − 1/D − x̂·x̂ᵀ/D)/σ."""

import torch


def layer_norm_backward(dy, x, gamma, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    D = x.shape[-1]
    flat, arrives = x.reshape(-1, D).to(wide), dy.reshape(-1, D).to(wide)
    c = flat - flat.mean(1, keepdim=True)
    sigma = (torch.einsum("nd,nd->n", c, c) / D + eps).sqrt()[:, None]
    hat = c / sigma
    jacobian = torch.eye(D, dtype=wide, device=x.device) - 1.0 / D - hat[:, :, None] * hat[:, None, :] / D
    dx = torch.einsum("nij,nj->ni", jacobian, arrives * gamma.to(wide)) / sigma
    dgamma = torch.einsum("nd,nd->d", arrives, hat)
    return dx.reshape(x.shape).to(x.dtype), dgamma.to(x.dtype), arrives.sum(0).to(x.dtype)
