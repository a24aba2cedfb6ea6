"""One token after the other; sums in place of means."""

import torch


def layer_norm_backward(dy, x, gamma, eps=1e-5):
    if x.dtype.itemsize == 2:
        return tuple(t.to(x.dtype) for t in layer_norm_backward(dy.float(), x.float(), gamma.float(), eps))
    D = x.shape[-1]
    dgamma, dbeta, rows = torch.zeros_like(gamma), torch.zeros_like(gamma), []
    for up, row in zip(dy.reshape(-1, D), x.reshape(-1, D)):
        c = row - row.sum() / D
        sigma = (c.dot(c) / D + eps) ** 0.5
        hat, g = c / sigma, up * gamma
        rows.append((D * g - g.sum() - hat * g.dot(hat)) / (D * sigma))
        dgamma = dgamma + up * hat
        dbeta = dbeta + up
    return torch.stack(rows).reshape(x.shape), dgamma, dbeta
