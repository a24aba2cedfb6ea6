"""Averages the heads instead of joining them side by side.
把各头取平均，而不是并排拼接。

symptom: The model loses what its heads tell apart.
症状：各头学到的差别全被抹平。

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
    k, v = (x @ wk)[:, None], (x @ wv)[:, None]
    scores = q @ k.mT / d**0.5
    if causal:
        scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
    out = scores.softmax(-1) @ v
    return (out.mean(1).repeat(1, 1, H) @ wo).to(dtype)
