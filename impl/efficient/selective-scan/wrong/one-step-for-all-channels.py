"""Averages the step over the channels.
对各通道的步长取了平均。

symptom: Channels cannot forget at their own pace.
症状：各通道无法按自己的节奏遗忘。

cards: sparse-10, sparse-11
rung: solved
"""

import torch
import torch.nn.functional as F


def ssm_scan(x, dt, A, Bm, C):
    dtype = x.dtype
    wide = torch.promote_types(dtype, torch.float32)
    x, dt, A, Bm, C = (t.to(wide) for t in (x, dt, A, Bm, C))
    step = F.softplus(dt).mean(-1, keepdim=True).expand_as(dt)
    h = x.new_zeros(x.shape[0], x.shape[2], A.shape[1])
    ys = []
    for t in range(x.shape[1]):
        delta = step[:, t, :, None]
        h = torch.exp(delta * A) * h + delta * Bm[:, t, None] * x[:, t, :, None]
        ys.append((h * C[:, t, None]).sum(-1))
    return torch.stack(ys, 1).to(dtype)
