"""Projects the state on the side of the values.
从 value 一侧去投影状态。

symptom: Erases what had this value, not what had this key.
症状：擦掉的是有这个 value 的，而不是有这个 key 的。

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
        old = vt[..., None] * (vt[..., None, :] @ S)
        S = S - bt[..., None] * old + (bt * vt)[..., None] * kt[..., None, :]
        ys.append((S @ q[:, :, t, :, None])[..., 0])
    return torch.stack(ys, 2).to(dtype), S.to(dtype)
