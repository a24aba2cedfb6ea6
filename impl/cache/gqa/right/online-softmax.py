"""Three keys at a time with a running maximum."""

from __future__ import annotations

import math
import torch
from torch import Tensor


def gqa(q, k, v, causal=False):
    B, H, T, d = q.shape
    G, S = k.shape[1], k.shape[2]
    if H % G or (causal and S < T):
        raise ValueError("H % G or S < T")
    dt = torch.promote_types(q.dtype, torch.float32)
    x = q.to(dt).reshape(B, G, H // G, T, d) / math.sqrt(d)
    m = x.new_full((B, G, H // G, T, 1), -1e300 if dt == torch.float64 else -1e38)
    l, acc = torch.zeros_like(m), torch.zeros_like(x)
    row = torch.arange(T, device=q.device)[:, None] + S - T
    for a in range(0, S, 3):
        b = min(a + 3, S)
        s = x @ k[:, :, None, a:b].to(dt).mT
        if causal:
            s = s.masked_fill(torch.arange(a, b, device=q.device) > row, -math.inf)
        n = torch.maximum(m, s.amax(-1, keepdim=True)).detach()
        p, c = torch.exp(s - n), torch.exp(m - n)
        l, acc, m = l * c + p.sum(-1, keepdim=True), acc * c + p @ v[:, :, None, a:b].to(dt), n
    return (acc / l).reshape(B, H, T, d).to(q.dtype)
