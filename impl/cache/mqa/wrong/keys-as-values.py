"""Uses the keys as values.
把 key 当成 value 用。

symptom: wv gets no gradient.
症状：wv 没有梯度。

cards: att-12
rung: solved
"""

import torch


def mqa(x, wq, wk, wv, wo, H, causal=True):
    B, T, _ = x.shape
    d = wk.shape[1]
    wide = torch.promote_types(x.dtype, torch.float32)
    dtype, (x, wq, wk, wv, wo) = x.dtype, [t.to(wide) for t in (x, wq, wk, wv, wo)]
    q = (x @ wq).view(B, T, H, d).transpose(1, 2)
    k, v = (x @ wk)[:, None], (x @ wk)[:, None]
    scores = q @ k.mT / d**0.5
    if causal:
        scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
    out = scores.softmax(-1) @ v
    return (out.transpose(1, 2).reshape(B, T, H * d) @ wo).to(dtype)
