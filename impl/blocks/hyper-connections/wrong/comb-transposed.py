"""Sums over comb's first index.
对 comb 的第一个下标求和。

symptom: Hidden where comb is symmetric.
症状：comb 对称时看不出来。

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
    mixed = torch.einsum("bsji,bsjd->bsid", comb.to(wide), xw)
    return (mixed + post.to(wide).unsqueeze(-1) * y.unsqueeze(-2)).to(x.dtype)
