"""Decays after the write.
先写入，再衰减。

symptom: A token's own decay weakens what it has just written, and reaches the past one token late.
症状：token 的衰减削弱了它自己刚写入的内容，对过去则晚一个 token 才起作用。

cards: sparse-12
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
        before = gc - log_decay[:, :, start:end].to(wide)
        gap = torch.where(lower[:, :, None], before.unsqueeze(3) - before.unsqueeze(2), -torch.inf).exp()
        kk = torch.einsum("bhid,bhjd,bhijd->bhij", kc, kc, gap.expand(B, H, n, n, d))
        qk = torch.einsum("bhid,bhjd,bhijd->bhij", qc, kc, gap.expand(B, H, n, n, d))
        system = torch.eye(n, dtype=wide, device=q.device) + bc * kk.tril(-1)
        right = bc * (vc - (kc * before.exp()) @ S)
        u = torch.linalg.solve_triangular(system, right, upper=False, unitriangular=True)
        out.append((qc * before.exp()) @ S + qk @ u)
        tail = (gc[:, :, -1:] - before).exp()
        S = gc[:, :, -1].exp().unsqueeze(-1) * S + (kc * tail).transpose(2, 3) @ u
    return torch.cat(out, 2).to(q.dtype), S.to(q.dtype)
