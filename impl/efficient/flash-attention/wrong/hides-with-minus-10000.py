"""Hides keys with a finite number such as −10⁴.
用 −10⁴ 之类的有限值遮住 key。

symptom: Lower visible scores lose all weight to them.
症状：可见分数更低时，权重全跑到它们上。

cards: mask-04
rung: hardened
"""

import math
import torch
from torch import Tensor


def flash_attention(
    q: Tensor, k: Tensor, v: Tensor, block_q: int = 64, block_k: int = 64, causal: bool = False
) -> tuple[Tensor, Tensor]:
    B, H, T, d = q.shape
    S = k.shape[2]
    dtype = q.dtype
    wide = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    scale = 1.0 / math.sqrt(d)
    shift = S - T
    outs, lses = [], []
    for i0 in range(0, T, block_q):
        i1 = min(i0 + block_q, T)
        qi = q[:, :, i0:i1].to(wide) * scale
        m = torch.full((B, H, i1 - i0, 1), -math.inf, dtype=wide, device=q.device)
        l = torch.zeros((B, H, i1 - i0, 1), dtype=wide, device=q.device)
        acc = torch.zeros((B, H, i1 - i0, v.shape[-1]), dtype=wide, device=q.device)
        for j0 in range(0, S, block_k):
            if causal and j0 > i1 - 1 + shift:
                break
            j1 = min(j0 + block_k, S)
            s = qi @ k[:, :, j0:j1].to(wide).transpose(-1, -2)
            if causal and j1 - 1 > i0 + shift:
                row = torch.arange(i0, i1, device=q.device).unsqueeze(1) + shift
                col = torch.arange(j0, j1, device=q.device)
                s = s.masked_fill(col > row, -1e4).masked_fill(row < 0, -math.inf)
            new = torch.maximum(m, s.detach().amax(-1, keepdim=True))
            base = torch.where(new == -math.inf, torch.zeros_like(new), new)
            p = torch.exp(s - base)
            old = torch.exp(m - base)
            l = l * old + p.sum(-1, keepdim=True)
            acc = acc * old + p @ v[:, :, j0:j1].to(wide)
            m = new
        blind = l == 0
        safe = torch.where(blind, torch.ones_like(l), l)
        outs.append(acc / safe)
        lses.append(torch.where(blind, torch.full_like(l, -math.inf), m + torch.log(safe)).squeeze(-1))
    return torch.cat(outs, dim=2).to(dtype), torch.cat(lses, dim=2).to(dtype)
