"""Divides exp(s) by exp(lse).
用 exp(s) 除以 exp(lse)。

symptom: ∞/∞ for large scores, 0/0 for low ones.
症状：分数大时 ∞/∞，分数低时 0/0。

cards: att-24
rung: solved
"""

import torch


def flash_attention_backward(q, k, v, o, lse, do, causal=False, block=64):
    dtype, (T, d), S = q.dtype, q.shape[2:], k.shape[2]
    wide = torch.promote_types(dtype, torch.float32)
    q, k, v, o, lse, do = (t.to(wide) for t in (q, k, v, o, lse, do))
    scale = d**-0.5
    D = (do * o).sum(-1)
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for i in range(0, T, block):
        a = slice(i, i + block)
        for j in range(0, S, block):
            b = slice(j, j + block)
            s = q[:, :, a] @ k[:, :, b].mT * scale
            p = s.exp() / lse[:, :, a, None].exp()
            if causal:
                row = torch.arange(i, min(i + block, T), device=q.device)[:, None] + S - T
                p = p.masked_fill(torch.arange(j, min(j + block, S), device=q.device) > row, 0.0)
            ds = p * (do[:, :, a] @ v[:, :, b].mT - D[:, :, a, None]) * scale
            dv[:, :, b] += p.mT @ do[:, :, a]
            dq[:, :, a] += ds @ k[:, :, b]
            dk[:, :, b] += ds.mT @ q[:, :, a]
    return dq.to(dtype), dk.to(dtype), dv.to(dtype)
