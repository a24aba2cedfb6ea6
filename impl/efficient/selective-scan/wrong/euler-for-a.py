"""Discretises the decay by Euler, 1 + Δ A.
衰减用了欧拉离散：1 + Δ A。

symptom: Close for small steps; below −1 for large ones, where the state oscillates and explodes.
症状：步长小时差不多；步长大时小于 −1，状态振荡发散。

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
        h = (1 + delta * A) * h + delta * Bm[:, t, None] * x[:, t, :, None]
        ys.append((h * C[:, t, None]).sum(-1))
    return torch.stack(ys, 1).to(dtype)
