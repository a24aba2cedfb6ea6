"""Writes by C and reads by B.
用 C 写、用 B 读。

symptom: Shapes agree, results do not.
症状：形状都对，结果不对。

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
        h = torch.exp(delta * A) * h + delta * C[:, t, None] * x[:, t, :, None]
        ys.append((h * Bm[:, t, None]).sum(-1))
    return torch.stack(ys, 1).to(dtype)
