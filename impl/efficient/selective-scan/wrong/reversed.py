"""Walks the tokens from the last to the first.
从最后一个 token 往前扫。

symptom: Acausal: a token depends on what comes after it.
症状：违反因果：token 依赖它之后的内容。

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
    for t in reversed(range(T)):
        d, xt = delta[:, t].unsqueeze(-1), x[:, t].to(wide).unsqueeze(-1)
        b, c = Bm[:, t].to(wide).unsqueeze(1), C[:, t].to(wide).unsqueeze(1)
        h = torch.exp(d * Aw) * h + d * b * xt
        ys.append((h * c).sum(-1))
    return torch.stack(ys[::-1], 1).to(x.dtype)
