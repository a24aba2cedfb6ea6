"""Reads before it writes.
先读后写。

symptom: A token does not see itself; y₀ is S0 q₀.
症状：token 看不到自己；y₀ 成了 S0 q₀。

cards: sparse-12
rung: solved
"""

import torch


def delta_rule(q, k, v, beta, S0=None):
    dtype = q.dtype
    wide = torch.promote_types(dtype, torch.float32)
    q, k, v, beta = q.to(wide), k.to(wide), v.to(wide), beta.to(wide)
    if S0 is None:
        S = q.new_zeros(*q.shape[:2], v.shape[-1], q.shape[-1])
    else:
        S = S0.to(wide)
    ys = []
    for t in range(q.shape[2]):
        kt, vt, bt = k[:, :, t], v[:, :, t], beta[:, :, t, None]
        old = (S @ kt[..., None])[..., 0]
        ys.append((S @ q[:, :, t, :, None])[..., 0])
        S = S + (bt * (vt - old))[..., None] * kt[..., None, :]
    return torch.stack(ys, 2).to(dtype), S.to(dtype)
