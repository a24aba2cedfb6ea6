"""Takes exp of the logits as they are.
直接对 logits 取 exp。

symptom: ∞/∞ = NaN at 1,000, 0/0 at −1,000.
症状：logits 到 1000 是 ∞/∞ = NaN，到 −1000 是 0/0。

cards: norm-19
rung: solved
"""

import torch


def sinkhorn(logits, iters=20):
    wide = torch.promote_types(logits.dtype, torch.float32)
    z = logits.to(wide)
    P = torch.exp(z)
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
