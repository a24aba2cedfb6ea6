"""Head h takes every H-th column of x @ wq.
第 h 个头取 x @ wq 中每隔 H 列的一列。

symptom: Fine when trained so, garbage with a loaded checkpoint.
症状：自己训练没事，加载别人的权重就是乱码。

cards: kv-12
rung: solved
"""

import torch


def mqa(x, wq, wk, wv, wo, H, causal=True):
    B, T, _ = x.shape
    d = wk.shape[1]
    wide = torch.promote_types(x.dtype, torch.float32)
    dtype, (x, wq, wk, wv, wo) = x.dtype, [t.to(wide) for t in (x, wq, wk, wv, wo)]
    q = (x @ wq).view(B, T, d, H).permute(0, 3, 1, 2)
    k, v = (x @ wk)[:, None], (x @ wv)[:, None]
    scores = q @ k.mT / d**0.5
    if causal:
        scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
    out = scores.softmax(-1) @ v
    return (out.transpose(1, 2).reshape(B, T, H * d) @ wo).to(dtype)
