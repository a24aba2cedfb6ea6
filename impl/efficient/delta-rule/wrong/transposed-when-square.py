"""Reads S0 as keys by values where both have one size.
d = dv 时把 S0 当成（key, value）来读。

symptom: Continuing a sequence gives another answer than the whole.
症状：分段接着算，与一次算完结果不同。

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
        S = S.mT if S.shape[-1] == S.shape[-2] else S
    ys = []
    for t in range(q.shape[2]):
        kt, vt, bt = k[:, :, t], v[:, :, t], beta[:, :, t, None]
        old = (S @ kt[..., None])[..., 0]
        S = S + (bt * (vt - old))[..., None] * kt[..., None, :]
        ys.append((S @ q[:, :, t, :, None])[..., 0])
    return torch.stack(ys, 2).to(dtype), S.to(dtype)
