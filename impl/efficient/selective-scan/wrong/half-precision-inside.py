"""Keeps the state in 16 bits.
状态用 16 位存。

symptom: Slow states stop growing, and decays near 1 round to 1.
症状：慢的状态不再增长，接近 1 的衰减被舍入成 1。

cards: prec-07
rung: hardened
"""

import torch
import torch.nn.functional as F


def ssm_scan(x, dt, A, Bm, C):
    dtype = x.dtype
    wide = dtype
    x, dt, A, Bm, C = (t.to(wide) for t in (x, dt, A, Bm, C))
    step = F.softplus(dt)
    h = x.new_zeros(x.shape[0], x.shape[2], A.shape[1])
    ys = []
    for t in range(x.shape[1]):
        delta = step[:, t, :, None]
        h = torch.exp(delta * A) * h + delta * Bm[:, t, None] * x[:, t, :, None]
        ys.append((h * C[:, t, None]).sum(-1))
    return torch.stack(ys, 1).to(dtype)
