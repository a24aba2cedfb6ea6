"""Detaches the state between tokens.
token 之间把状态 detach 了。

symptom: Right values; no token learns from what is read later.
症状：值都对；写入的内容收不到之后读取的梯度。

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
        S = S.detach()
        kt, vt, bt = k[:, :, t], v[:, :, t], beta[:, :, t, None]
        old = (S @ kt[..., None])[..., 0]
        S = S + (bt * (vt - old))[..., None] * kt[..., None, :]
        ys.append((S @ q[:, :, t, :, None])[..., 0])
    return torch.stack(ys, 2).to(dtype), S.to(dtype)
