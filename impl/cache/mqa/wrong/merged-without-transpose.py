"""Merges (B, H, T, d) into (B, T, H·d) without a transpose.
合并时没有转置，直接把 (B, H, T, d) 变成 (B, T, H·d)。

symptom: Tokens and heads are mixed; right for H = 1 or T = 1.
症状：token 和头混在一起；H = 1 或 T = 1 时才对。

cards: head-18
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
    out = scores.softmax(-1) @ v
    return (out.reshape(B, T, H * d) @ wo).to(dtype)
