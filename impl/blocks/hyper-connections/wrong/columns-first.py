"""Columns first, rows last.
先列后行。

symptom: The same in the limit; after few iterations the rows, not the columns, sum to 1.
症状：极限相同；迭代次数少时，等于 1 的是行和而不是列和。

cards: norm-19
rung: solved
"""

import torch


def sinkhorn(logits, iters=20):
    wide = torch.promote_types(logits.dtype, torch.float32)
    z = logits.to(wide)
    P = torch.exp(z - z.amax(dim=(-1, -2), keepdim=True))
    for _ in range(iters):
        P = P / P.sum(-2, keepdim=True) + 0
        P = P / P.sum(-1, keepdim=True)
    return P.to(logits.dtype)


def mhc_step(x, pre, post, comb, f):
    wide = torch.promote_types(x.dtype, torch.float32)
    xw = x.to(wide)
    h = torch.einsum("bsn,bsnd->bsd", pre.to(wide), xw)
    y = f(h.to(x.dtype)).to(wide)
    mixed = torch.einsum("bsij,bsjd->bsid", comb.to(wide), xw)
    return (mixed + post.to(wide).unsqueeze(-1) * y.unsqueeze(-2)).to(x.dtype)
