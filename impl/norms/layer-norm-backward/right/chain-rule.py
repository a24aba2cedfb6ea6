"""Step by step through the graph: the variance, the mean, then x."""

import torch


def layer_norm_backward(dy, x, gamma, eps=1e-5):
    half = x.dtype in (torch.float16, torch.bfloat16)
    a, b, c = (t.float() if half else t for t in (dy, x, gamma))
    D = b.shape[-1]
    var, mean = torch.var_mean(b, dim=-1, keepdim=True, unbiased=False)
    centred, inverse = b - mean, torch.rsqrt(var + eps)
    dhat = a * c
    dvar = (dhat * centred).sum(-1, keepdim=True) * -0.5 * inverse**3
    dmean = -(dhat * inverse).sum(-1, keepdim=True) + dvar * (-2.0 / D) * centred.sum(-1, keepdim=True)
    dx = dhat * inverse + dvar * 2.0 / D * centred + dmean / D
    tokens = tuple(range(x.dim() - 1))
    products = a * centred * inverse
    dgamma = products.sum(tokens) if tokens else products
    dbeta = a.sum(tokens) if tokens else a.clone()
    return dx.to(x.dtype), dgamma.to(x.dtype), dbeta.to(x.dtype)
