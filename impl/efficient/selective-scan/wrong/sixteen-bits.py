"""Keeps the state in 16 bits.
状态用 16 位保存。

symptom: Small inputs to a large state are lost.
症状：状态大时，小的输入加不进去。

cards: sparse-10
rung: hardened
"""

import torch
import torch.nn.functional as F


def ssm_scan(x, dt, A, Bm, C):
    B, T, D = x.shape
    wide = x.dtype
    delta = F.softplus(dt.to(wide))
    Aw = A.to(wide)
    h = torch.zeros(B, D, A.shape[1], dtype=wide, device=x.device)
    ys = []
    for t in range(T):
        d, xt = delta[:, t].unsqueeze(-1), x[:, t].to(wide).unsqueeze(-1)
        b, c = Bm[:, t].to(wide).unsqueeze(1), C[:, t].to(wide).unsqueeze(1)
        h = torch.exp(d * Aw) * h + d * b * xt
        ys.append((h * c).sum(-1))
    return torch.stack(ys, 1).to(x.dtype)
