"""Ignores causal and never masks.
不理会 causal，从不加掩码。

symptom: Training loss is suspiciously low.
症状：训练 loss 低得可疑。

cards: mask-09
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
    if False:
        scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
    out = scores.softmax(-1) @ v
    return (out.transpose(1, 2).reshape(B, T, H * d) @ wo).to(dtype)
