"""Adds and never takes away.
只加不减。

symptom: Plain linear attention: a key written twice answers with the sum.
症状：就是普通的线性注意力：同一个 key 写两次，读出来是两个值之和。

cards: sparse-12, sparse-07
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
        S = S + (bt * vt)[..., None] * kt[..., None, :]
        ys.append((S @ q[:, :, t, :, None])[..., 0])
    return torch.stack(ys, 2).to(dtype), S.to(dtype)
