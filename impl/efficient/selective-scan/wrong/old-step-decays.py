"""Decays with the step of the token before.
衰减用了上一个 token 的步长。

symptom: A token cannot make the state forget before it writes.
症状：token 无法在写入之前让状态遗忘。

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
        h = torch.exp(delta[:, max(t - 1, 0)].unsqueeze(-1) * Aw) * h + d * b * xt
        ys.append((h * c).sum(-1))
    return torch.stack(ys, 1).to(x.dtype)
