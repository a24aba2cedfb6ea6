"""Adds x to the result.
结果里加上了 x。

symptom: Mamba's block has such a skip, D·x; it is not part of this function.
症状：Mamba 的模块里有跳连 D·x，但不属于这个函数。

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
        h = torch.exp(delta * A) * h + delta * Bm[:, t, None] * x[:, t, :, None]
        ys.append((h * C[:, t, None]).sum(-1) + x[:, t])
    return torch.stack(ys, 1).to(dtype)
