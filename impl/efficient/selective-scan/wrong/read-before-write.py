"""Reads the state before it is updated.
更新之前就读状态。

symptom: A token does not see itself; the first result is 0.
症状：token 看不到自己；第一个输出是 0。

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
        ys.append((h * c).sum(-1))
        h = torch.exp(d * Aw) * h + d * b * xt
    return torch.stack(ys, 1).to(x.dtype)
