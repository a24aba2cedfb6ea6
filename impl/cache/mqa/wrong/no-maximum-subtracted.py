"""Exponentiates the scores as they are.
直接对分数取 exp。

symptom: Scores above 88 give NaN.
症状：分数超过 88 就是 NaN。

cards: att-24
rung: solved
"""

import torch


def mqa(x, wq, wk, wv, wo, H, causal=True):
    B, T, _ = x.shape
    d = wk.shape[1]
    wide = torch.promote_types(x.dtype, torch.float32)
    dtype, (x, wq, wk, wv, wo) = x.dtype, [t.to(wide) for t in (x, wq, wk, wv, wo)]
    q = (x @ wq).view(B, T, H, d).transpose(1, 2)
    k, v = (x @ wk)[:, None], (x @ wv)[:, None]
    scores = q @ k.mT / d**0.5
    if causal:
        scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
    e = scores.exp()
    out = e / e.sum(-1, keepdim=True) @ v
    return (out.transpose(1, 2).reshape(B, T, H * d) @ wo).to(dtype)
