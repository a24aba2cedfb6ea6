"""Shares one state over the batch.
整个 batch 共用一个状态。

symptom: Right for B = 1.
症状：B = 1 时才对。

cards: sparse-10
rung: solved
"""

import torch
import torch.nn.functional as F


def ssm_scan(x, dt, A, Bm, C):
    B, T, D = x.shape
    wide = torch.promote_types(x.dtype, torch.float32)
    delta = F.softplus(dt.to(wide))
    Aw = A.to(wide)
    h = torch.zeros(B, D, A.shape[1], dtype=wide, device=x.device)
    ys = []
    for t in range(T):
        d, xt = delta[:, t].unsqueeze(-1), x[:, t].to(wide).unsqueeze(-1)
        b, c = Bm[:, t].to(wide).unsqueeze(1), C[:, t].to(wide).unsqueeze(1)
        h = torch.exp(d * Aw) * h + d * b * xt
        h = h.mean(0, keepdim=True).expand(B, -1, -1)
        ys.append((h * c).sum(-1))
    return torch.stack(ys, 1).to(x.dtype)
