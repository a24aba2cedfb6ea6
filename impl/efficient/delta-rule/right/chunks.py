"""Chunks of 32, each one triangular system (the WY form)."""

import torch


def delta_rule(q, k, v, beta, S0=None):
    kind = torch.promote_types(q.dtype, torch.float32)
    B, H, T, d = q.shape
    S = torch.zeros(B, H, v.size(-1), d, dtype=kind, device=q.device) if S0 is None else S0.to(kind)
    out = []
    for i in range(0, T, 32):
        a, b, c = (x[:, :, i : i + 32].to(kind) for x in (q, k, v))
        r = beta[:, :, i : i + 32, None].to(kind)
        n = a.shape[2]
        system = torch.eye(n, dtype=kind, device=q.device) + torch.tril(r * torch.matmul(b, b.mT), -1)
        wanted = r * (c - torch.matmul(b, S.mT))
        rows = []
        for j in range(n):
            done = sum((system[:, :, j, l, None] * rows[l] for l in range(j)), torch.zeros_like(wanted[:, :, 0]))
            rows.append(wanted[:, :, j] - done)
        u = torch.stack(rows, 2)
        out.append(torch.matmul(a, S.mT) + torch.matmul(torch.tril(torch.matmul(a, b.mT)), u))
        S = S + torch.matmul(u.mT, b)
    return torch.cat(out, 2).to(q.dtype), S.to(q.dtype)
