"""Writes e^(G_i − G_j) as e^(G_i) · e^(−G_j).
把 e^(G_i − G_j) 拆成 e^(G_i)·e^(−G_j)。

symptom: 0 · ∞ = NaN after a few strong decays.
症状：几次强衰减之后就是 0 · ∞ = NaN。

cards: sparse-17
rung: hardened
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
        gap = torch.where(lower[:, :, None], gc.exp().unsqueeze(3) * (-gc).exp().unsqueeze(2), 0.0)
        kk = torch.einsum("bhid,bhjd,bhijd->bhij", kc, kc, gap.expand(B, H, n, n, d))
        qk = torch.einsum("bhid,bhjd,bhijd->bhij", qc, kc, gap.expand(B, H, n, n, d))
        system = torch.eye(n, dtype=wide, device=q.device) + bc * kk.tril(-1)
        right = bc * (vc - (kc * gc.exp()) @ S)
        u = torch.linalg.solve_triangular(system, right, upper=False, unitriangular=True)
        out.append((qc * gc.exp()) @ S + qk @ u)
        tail = (gc[:, :, -1:] - gc).exp()
        S = gc[:, :, -1].exp().unsqueeze(-1) * S + (kc * tail).transpose(2, 3) @ u
    return torch.cat(out, 2).to(q.dtype), S.to(q.dtype)
