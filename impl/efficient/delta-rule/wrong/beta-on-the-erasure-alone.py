"""Applies β to what is taken away, not to the new value.
β 只乘在擦除上，没乘在新值上。

symptom: With β = 0 a token is written all the same.
症状：β = 0 也照样写入。

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
        S = S + (vt - bt * old)[..., None] * kt[..., None, :]
        ys.append((S @ q[:, :, t, :, None])[..., 0])
    return torch.stack(ys, 2).to(dtype), S.to(dtype)
