"""Masks every tile by its own lower triangle.
每块都按块内的下三角来掩。

symptom: Right on the diagonal tiles alone.
症状：只有对角线上的块是对的。

cards: flash-04
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
            p = (s - lse[:, :, a, None]).exp()
            if causal:
                row = torch.arange(min(block, T - i), device=q.device)[:, None]
                p = p.masked_fill(torch.arange(min(block, S - j), device=q.device) > row, 0.0)
            ds = p * (do[:, :, a] @ v[:, :, b].mT - D[:, :, a, None]) * scale
            dv[:, :, b] += p.mT @ do[:, :, a]
            dq[:, :, a] += ds @ k[:, :, b]
            dk[:, :, b] += ds.mT @ q[:, :, a]
    return dq.to(dtype), dk.to(dtype), dv.to(dtype)
