"""Tiles wk and wv, then does multi-head attention.
把 wk、wv 平铺 H 份，再当作多头注意力来算。

symptom: Right, with H times the projection work and cache.
症状：结果对，但投影计算量和 cache 都是 H 倍。

cards: kv-08
rung: solved
"""

import torch


def mqa(x, wq, wk, wv, wo, H, causal=True):
    B, T, _ = x.shape
    d = wk.shape[1]
    wide = torch.promote_types(x.dtype, torch.float32)
    dtype, (x, wq, wk, wv, wo) = x.dtype, [t.to(wide) for t in (x, wq, wk, wv, wo)]
    q = (x @ wq).view(B, T, H, d).transpose(1, 2)
    k, v = ((x @ w.repeat(1, H)).view(B, T, H, d).transpose(1, 2) for w in (wk, wv))
    scores = q @ k.mT / d**0.5
    if causal:
        scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
    out = scores.softmax(-1) @ v
    return (out.transpose(1, 2).reshape(B, T, H * d) @ wo).to(dtype)
