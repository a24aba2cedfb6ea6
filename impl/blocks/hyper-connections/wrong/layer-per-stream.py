"""Runs the layer on every stream and mixes its outputs.
每条流各跑一次层，再混合输出。

symptom: n times the work, and another function unless f is linear.
症状：计算量变成 n 倍；除非 f 是线性的，否则结果也不同。

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
    y = sum(pre.to(wide)[:, :, i, None] * f(x[:, :, i]).to(wide) for i in range(x.shape[2]))
    mixed = torch.einsum("bsij,bsjd->bsid", comb.to(wide), xw)
    return (mixed + post.to(wide).unsqueeze(-1) * y.unsqueeze(-2)).to(x.dtype)
