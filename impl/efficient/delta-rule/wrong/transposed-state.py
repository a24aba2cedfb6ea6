"""Keeps the state as (d, dv).
状态存成了 (d, dv)。

symptom: The wrong shape; for dv = d the state of another call is read sideways.
症状：形状不对；dv = d 时，交接的状态是转置的。

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
        S = S0.to(wide).reshape(*S0.shape[:2], S0.shape[-1], S0.shape[-2]).mT
    ys = []
    for t in range(q.shape[2]):
        kt, vt, bt = k[:, :, t], v[:, :, t], beta[:, :, t, None]
        old = (S @ kt[..., None])[..., 0]
        S = S + (bt * (vt - old))[..., None] * kt[..., None, :]
        ys.append((S @ q[:, :, t, :, None])[..., 0])
    return torch.stack(ys, 2).to(dtype), S.mT.contiguous().to(dtype)
