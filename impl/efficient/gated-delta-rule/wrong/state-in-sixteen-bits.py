"""Hands the state from chunk to chunk in 16 bits.
块与块之间的状态用 16 位传递。

symptom: Small writes are swallowed: the longer the text, the worse.
症状：小的写入被吞掉，文本越长偏差越大。

cards: sparse-17, prec-06
rung: hardened
"""

from __future__ import annotations

import torch
from torch import Tensor


def gated_delta_rule(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    beta: Tensor,
    log_decay: Tensor,
    S0: Tensor | None = None,
    chunk: int = 64,
) -> tuple[Tensor, Tensor]:
    wide = torch.promote_types(q.dtype, torch.float32)
    B, H, T, d = q.shape
    g = log_decay if log_decay.dim() == 4 else log_decay[..., None]  # (B, H, T, d or 1)
    S = q.new_zeros((B, H, d, v.shape[-1]), dtype=q.dtype) if S0 is None else S0.to(q.dtype)  # (B, H, d, dv)
    outputs = []

    for start in range(0, T, chunk):
        S = S.to(wide)
        Q, K, V, b, G = (x[:, :, start : start + chunk].to(wide) for x in (q, k, v, beta[..., None], g))  # (B, H, C, ·)
        G = G.cumsum(dim=2)  # decay since the chunk began
        C = G.shape[2]
        future = torch.ones(C, C, dtype=torch.bool, device=q.device).triu(1)[..., None]  # (C, C, 1)
        between = (G[:, :, :, None] - G[:, :, None]).masked_fill(future, -torch.inf).exp()  # (B, H, C, C, d or 1)
        KK = (K[:, :, :, None] * K[:, :, None] * between).sum(dim=-1)  # (B, H, C, C)
        QK = (Q[:, :, :, None] * K[:, :, None] * between).sum(dim=-1)  # (B, H, C, C)

        A = torch.eye(C, dtype=wide, device=q.device) + b * KK.tril(-1)  # (B, H, C, C)
        U = torch.linalg.solve_triangular(A, b * (V - (K * G.exp()) @ S), upper=False)  # (B, H, C, dv)
        outputs.append((Q * G.exp()) @ S + QK @ U)  # (B, H, C, dv)

        last = G[:, :, -1:]  # (B, H, 1, d or 1)
        S = last.exp().transpose(-1, -2) * S + (K * (last - G).exp()).transpose(-1, -2) @ U  # (B, H, d, dv)
        S = S.to(q.dtype)
    return torch.cat(outputs, dim=2).to(q.dtype), S.to(q.dtype)
