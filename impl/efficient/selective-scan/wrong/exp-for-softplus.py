"""Takes e^dt for the step size.
步长取成 e^dt。

symptom: Close for very negative dt, far too large otherwise.
症状：dt 很负时接近，其他时候大得多。

cards: sparse-10
rung: solved
"""

import torch
import torch.nn.functional as F


def ssm_scan(x, dt, A, Bm, C):
    B, T, D = x.shape
    wide = torch.promote_types(x.dtype, torch.float32)
    delta = dt.to(wide).exp()
    Aw = A.to(wide)
    h = torch.zeros(B, D, A.shape[1], dtype=wide, device=x.device)
    ys = []
    for t in range(T):
        d, xt = delta[:, t].unsqueeze(-1), x[:, t].to(wide).unsqueeze(-1)
        b, c = Bm[:, t].to(wide).unsqueeze(1), C[:, t].to(wide).unsqueeze(1)
        h = torch.exp(d * Aw) * h + d * b * xt
        ys.append((h * c).sum(-1))
    return torch.stack(ys, 1).to(x.dtype)
