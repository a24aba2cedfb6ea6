"""Takes off the mean of the whole tensor, then computes E[x²] − E[x]² in one pass.
先减去整个张量的均值，再一遍算 E[x²] − E[x]²。

symptom: Fine until tokens with different means share a batch.
症状：一个 batch 里各 token 的均值相差很大时就错。

cards: norm-03
rung: solved
"""

from __future__ import annotations

import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    centred = y - y.mean(dim=-1, keepdim=True)
    z = y - y.mean().detach()
    variance = z.square().mean(-1, keepdim=True) - z.mean(-1, keepdim=True).square()
    normal = centred / (variance + eps).sqrt()
    return (normal * gamma.to(wide) + beta.to(wide)).to(x.dtype)
