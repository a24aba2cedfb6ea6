"""Takes D/H for the width of a head.
把头宽当成 D/H。

symptom: Fails or misreads heads where d is not D/H.
症状：d 不等于 D/H 时报错，或者切错头。

cards: head-01
rung: solved
"""

import torch


def mqa(x, wq, wk, wv, wo, H, causal=True):
    B, T, _ = x.shape
    d = wo.shape[1] // H
    wide = torch.promote_types(x.dtype, torch.float32)
    dtype, (x, wq, wk, wv, wo) = x.dtype, [t.to(wide) for t in (x, wq, wk, wv, wo)]
    q = (x @ wq).view(B, T, H, d).transpose(1, 2)
    k, v = (x @ wk)[:, None], (x @ wv)[:, None]
    scores = q @ k.mT / d**0.5
    if causal:
        scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
    out = scores.softmax(-1) @ v
    return (out.transpose(1, 2).reshape(B, T, H * d) @ wo).to(dtype)
