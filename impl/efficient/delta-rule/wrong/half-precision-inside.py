"""Keeps the state in 16 bits.
状态用 16 位存。

symptom: Small corrections vanish.
症状：小的修正加不进去。

cards: prec-07
rung: hardened
"""

import torch


def delta_rule(q, k, v, beta, S0=None):
    dtype = q.dtype
    wide = dtype
    q, k, v, beta = q.to(wide), k.to(wide), v.to(wide), beta.to(wide)
    if S0 is None:
        S = q.new_zeros(*q.shape[:2], v.shape[-1], q.shape[-1])
    else:
        S = S0.to(wide)
    ys = []
    for t in range(q.shape[2]):
        kt, vt, bt = k[:, :, t], v[:, :, t], beta[:, :, t, None]
        old = (S @ kt[..., None])[..., 0]
        S = S + (bt * (vt - old))[..., None] * kt[..., None, :]
        ys.append((S @ q[:, :, t, :, None])[..., 0])
    return torch.stack(ys, 2).to(dtype), S.to(dtype)
