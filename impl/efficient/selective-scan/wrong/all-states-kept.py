"""Computes all decays at once, (B, T, D, N).
一次算出所有 token 的衰减，(B, T, D, N)。

symptom: Right values; N times the memory of the layer's input.
症状：数值对，显存是该层输入的 N 倍。

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
    decays = torch.exp(delta.unsqueeze(-1) * Aw)
    ys = []
    for t in range(T):
        d, xt = delta[:, t].unsqueeze(-1), x[:, t].to(wide).unsqueeze(-1)
        b, c = Bm[:, t].to(wide).unsqueeze(1), C[:, t].to(wide).unsqueeze(1)
        h = decays[:, t] * h + d * b * xt
        ys.append((h * c).sum(-1))
    return torch.stack(ys, 1).to(x.dtype)
