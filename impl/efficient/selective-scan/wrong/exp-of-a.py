"""Takes A for a logarithm: −exp(A).
把 A 当成对数，用了 −exp(A)。

symptom: Mamba's modules store log(−A); what comes in here is A.
症状：Mamba 的模块里存的是 log(−A)，而这里传进来的就是 A。

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
        h = torch.exp(-delta * A.exp()) * h + delta * Bm[:, t, None] * x[:, t, :, None]
        ys.append((h * C[:, t, None]).sum(-1))
    return torch.stack(ys, 1).to(dtype)
