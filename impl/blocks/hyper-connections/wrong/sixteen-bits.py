"""Normalises 16-bit matrices in 16 bits.
16 位矩阵就在 16 位里归一化。

symptom: In bfloat16 column sums are off by up to half a per cent, after any number of iterations.
症状：bfloat16 下列和最多差 0.5 %，迭代多少次都一样。

cards: norm-19, prec-07
rung: hardened
"""

import torch


def sinkhorn(logits, iters=20):
    wide = torch.promote_types(logits.dtype, torch.float32)
    z = logits
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
    mixed = torch.einsum("bsij,bsjd->bsid", comb.to(wide), xw)
    return (mixed + post.to(wide).unsqueeze(-1) * y.unsqueeze(-2)).to(x.dtype)
