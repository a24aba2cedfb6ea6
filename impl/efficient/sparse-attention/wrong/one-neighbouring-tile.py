"""Reads one neighbouring tile of 32 keys.
只读相邻的一块（32 个 key）。

symptom: Blind in windows beyond 32.
症状：窗口超过 32 就看不到了。

cards: sparse-01
rung: solved
"""

import math
import torch
from torch import Tensor

TILE = 32


def sliding_window_attention(
    q: Tensor, k: Tensor, v: Tensor, window: int, n_sink: int = 0, causal: bool = True
) -> Tensor:
    T, d = q.shape[-2], q.shape[-1]
    dtype = q.dtype
    wide = torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype
    scale = 1.0 / math.sqrt(d)
    outs = []
    for i0 in range(0, T, TILE):
        i1 = min(i0 + TILE, T)
        lo = max(0, i0 - min(window - 1, TILE))
        hi = i1 if causal else min(T, i1 + min(window - 1, TILE))
        ns = min(n_sink, lo)  # sinks in front of the slice; the others lie in it
        kk = torch.cat((k[:, :, :ns], k[:, :, lo:hi]), dim=2).to(wide)
        vv = torch.cat((v[:, :, :ns], v[:, :, lo:hi]), dim=2).to(wide)
        j = torch.cat((torch.arange(ns, device=q.device), torch.arange(lo, hi, device=q.device)))
        i = torch.arange(i0, i1, device=q.device).unsqueeze(1)
        near = (i - j < window) & (j - i < window)
        seen = near | (j < n_sink)
        if causal:
            seen = seen & (j <= i)
        s = (q[:, :, i0:i1].to(wide) * scale) @ kk.transpose(-1, -2)
        p = torch.softmax(s.masked_fill(~seen, -math.inf), dim=-1)
        outs.append(p @ vv)
    return torch.cat(outs, dim=2).to(dtype)
