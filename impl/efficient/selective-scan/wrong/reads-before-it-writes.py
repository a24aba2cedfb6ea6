"""Reads before it writes.
先读后写。

symptom: A token sees the past alone; y₀ = 0.
症状：token 只看得到过去；y₀ = 0。

cards: sparse-10
rung: solved
"""

import torch
import torch.nn.functional as F


def ssm_scan(x, dt, A, Bm, C):
    dtype = x.dtype
    wide = torch.promote_types(dtype, torch.float32)
    x, dt, A, Bm, C = (t.to(wide) for t in (x, dt, A, Bm, C))
    step = F.softplus(dt)
    h = x.new_zeros(x.shape[0], x.shape[2], A.shape[1])
    ys = []
    for t in range(x.shape[1]):
        delta = step[:, t, :, None]
        ys.append((h * C[:, t, None]).sum(-1))
        h = torch.exp(delta * A) * h + delta * Bm[:, t, None] * x[:, t, :, None]
    return torch.stack(ys, 1).to(dtype)
