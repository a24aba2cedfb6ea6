"""Remembers tile masks by size and place alone.
只按块的大小和位置缓存掩码。

symptom: Wrong once S − T has changed between calls.
症状：两次调用的 S − T 不同就错。

cards: mask-04
rung: solved
"""

import math

import torch
from torch import Tensor

hidden_in_tile: dict[tuple[object, ...], Tensor] = {}


def flash_attention(
    q: Tensor, k: Tensor, v: Tensor, block_q: int = 64, block_k: int = 64, causal: bool = False
) -> tuple[Tensor, Tensor]:
    B, H, T, d = q.shape
    S = k.shape[2]
    acc_dtype = torch.float32 if q.dtype in (torch.float16, torch.bfloat16) else q.dtype
    scale = 1.0 / math.sqrt(d)
    offset = S - T
    outs, lses = [], []
    for i0 in range(0, T, block_q):
        i1 = min(i0 + block_q, T)
        qb = q[:, :, i0:i1].to(acc_dtype) * scale
        m = torch.full((B, H, i1 - i0), float("-inf"), dtype=acc_dtype, device=q.device)
        total = torch.zeros((B, H, i1 - i0), dtype=acc_dtype, device=q.device)
        acc = torch.zeros((B, H, i1 - i0, d), dtype=acc_dtype, device=q.device)
        for j0 in range(0, S, block_k):
            j1 = min(j0 + block_k, S)
            if causal and j0 > i1 - 1 + offset:
                break
            kb = k[:, :, j0:j1].to(acc_dtype)
            vb = v[:, :, j0:j1].to(acc_dtype)
            s = qb @ kb.transpose(-1, -2)
            if causal and j1 - 1 > i0 + offset:
                key = (i1 - i0, j1 - j0, i0 - j0, q.device)
                if key not in hidden_in_tile:
                    rows = torch.arange(i0, i1, device=q.device)[:, None] + offset
                    cols = torch.arange(j0, j1, device=q.device)[None, :]
                    hidden_in_tile[key] = cols > rows
                s = s.masked_fill(hidden_in_tile[key], float("-inf"))
            m_new = torch.maximum(m, s.detach().amax(dim=-1))
            peak = m_new.masked_fill(m_new == float("-inf"), 0.0)
            p = torch.exp(s - peak[..., None])
            alpha = torch.exp(m - peak)
            total = total * alpha + p.sum(dim=-1)
            acc = acc * alpha[..., None] + p @ vb
            m = m_new
        dead = total == 0
        sums = torch.where(dead, torch.ones_like(total), total)
        peak = m.masked_fill(dead, 0.0)
        outs.append(acc / sums[..., None])
        lses.append((peak + torch.log(sums)).masked_fill(dead, float("-inf")))
    out = torch.cat(outs, dim=2).to(q.dtype)
    return out, torch.cat(lses, dim=2)
