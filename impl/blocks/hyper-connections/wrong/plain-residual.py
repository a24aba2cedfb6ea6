"""Keeps each stream as it is instead of mixing them.
每条流原样保留，没有混合。

symptom: comb has no effect and no gradient.
症状：comb 不起作用，也没有梯度。

cards: norm-19
rung: solved
"""

import torch


def sinkhorn(logits, iters=20):
    wide = torch.promote_types(logits.dtype, torch.float32)
    z = logits.to(wide)
    P = torch.exp(z - z.amax(dim=(-1, -2), keepdim=True))
    for _ in range(iters):
        P = P / P.sum(-1, keepdim=True)
        P = P / P.sum(-2, keepdim=True)
    return P.to(logits.dtype)


def mhc_step(x, pre, post, comb, f):
    wide = torch.promote_types(x.dtype, torch.float32)
    xw = x.to(wide)
    h = torch.einsum("bsn,bsnd->bsd", pre.to(wide), xw)
    y = f(h.to(x.dtype)).to(wide)
    mixed = xw + 0 * comb.to(wide).sum((-1, -2), keepdim=True)
    return (mixed + post.to(wide).unsqueeze(-1) * y.unsqueeze(-2)).to(x.dtype)
