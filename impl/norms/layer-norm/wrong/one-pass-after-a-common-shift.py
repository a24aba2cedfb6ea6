"""Subtracts the whole tensor's mean, then computes E[x²] − E[x]².
减去整个张量的均值，再算 E[x²] − E[x]²。

symptom: Wrong once tokens of different means meet.
症状：各 token 均值相差很大时就错。

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
