"""Solves for all tokens at once.
所有 token 一次解完。

symptom: T × T matrices: the chunk must have a limit.
症状：出现 T × T 的矩阵：分块必须有上限。

cards: sparse-18
rung: solved
"""

import torch


def delta_rule(q, k, v, beta, S0=None):
    dtype = q.dtype
    wide = torch.promote_types(dtype, torch.float32)
    q, k, v, beta = q.to(wide), k.to(wide), v.to(wide), beta.to(wide)[..., None]
    S = q.new_zeros(*q.shape[:2], v.shape[-1], q.shape[-1]) if S0 is None else S0.to(wide)
    T = q.shape[2]
    system = torch.eye(T, dtype=wide, device=q.device) + (beta * (k @ k.mT)).tril(-1)
    u = torch.linalg.solve_triangular(system, beta * (v - k @ S.mT), upper=False)
    y = q @ S.mT + (q @ k.mT).tril() @ u
    return y.to(dtype), (S + u.mT @ k).to(dtype)
