"""Expands K and V over the heads, then reshapes to (B·H, T, d): reshape copies.
先按头 expand，再 reshape 成 (B·H, T, d)：reshape 会复制。

symptom: Looks like views, takes H times the memory.
症状：看着像视图，却占 H 倍内存。

cards: kv-12
rung: solved
"""

import torch


def mqa(x, wq, wk, wv, wo, H, causal=True):
    B, T, _ = x.shape
    d = wk.shape[1]
    wide = torch.promote_types(x.dtype, torch.float32)
    dtype, (x, wq, wk, wv, wo) = x.dtype, [t.to(wide) for t in (x, wq, wk, wv, wo)]
    q = (x @ wq).view(B, T, H, d).transpose(1, 2).reshape(B * H, T, d)
    k, v = ((x @ w)[:, None].expand(B, H, T, d).reshape(B * H, T, d) for w in (wk, wv))
    scores = q @ k.mT / d**0.5
    if causal:
        scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
    out = scores.softmax(-1) @ v
    return (out.view(B, H, T, d).transpose(1, 2).reshape(B, T, H * d) @ wo).to(dtype)
