"""Solves with the diagonal of KKᵀ as well.
解方程时把 KKᵀ 的对角线也算了进去。

symptom: Each token corrects for its own write: for unit keys β shrinks to β/(1 + β).
症状：每个 token 连自己的写入也扣掉：key 为单位向量时，β 变成 β/(1 + β)。

cards: sparse-18
rung: solved
"""

import torch


def gated_delta_rule(q, k, v, beta, log_decay, S0=None, chunk=64):
    B, H, T, d = q.shape
    wide = torch.promote_types(q.dtype, torch.float32)
    S = torch.zeros(B, H, d, v.shape[-1], dtype=wide, device=q.device) if S0 is None else S0.to(wide)
    if log_decay.dim() == 3:
        log_decay = log_decay.unsqueeze(-1)
    out = []
    for start in range(0, T, chunk):
        end = min(start + chunk, T)
        n = end - start
        qc, kc, vc = q[:, :, start:end].to(wide), k[:, :, start:end].to(wide), v[:, :, start:end].to(wide)
        bc = beta[:, :, start:end, None].to(wide)
        gc = log_decay[:, :, start:end].to(wide).cumsum(2)
        lower = torch.ones(n, n, dtype=torch.bool, device=q.device).tril()
        gap = torch.where(lower[:, :, None], gc.unsqueeze(3) - gc.unsqueeze(2), -torch.inf).exp()
        kk = torch.einsum("bhid,bhjd,bhijd->bhij", kc, kc, gap.expand(B, H, n, n, d))
        qk = torch.einsum("bhid,bhjd,bhijd->bhij", qc, kc, gap.expand(B, H, n, n, d))
        system = torch.eye(n, dtype=wide, device=q.device) + bc * kk.tril()
        right = bc * (vc - (kc * gc.exp()) @ S)
        u = torch.linalg.solve_triangular(system, right, upper=False)
        out.append((qc * gc.exp()) @ S + qk @ u)
        tail = (gc[:, :, -1:] - gc).exp()
        S = gc[:, :, -1].exp().unsqueeze(-1) * S + (kc * tail).transpose(2, 3) @ u
    return torch.cat(out, 2).to(q.dtype), S.to(q.dtype)
