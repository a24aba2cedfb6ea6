"""Computes all decays and inputs before the loop.
循环之前就把所有衰减和输入都算好。

symptom: (B, T, D, N) numbers, N times the size of x.
症状：(B, T, D, N) 个数，是 x 的 N 倍。

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
    decay = torch.exp(step[..., None] * A)
    ys = []
    for t in range(x.shape[1]):
        delta = step[:, t, :, None]
        h = decay[:, t] * h + delta * Bm[:, t, None] * x[:, t, :, None]
        ys.append((h * C[:, t, None]).sum(-1))
    return torch.stack(ys, 1).to(dtype)
