"""One attention per tile, joined by weights."""

from __future__ import annotations

import math
import torch
from torch import Tensor


def flash_attention(q, k, v, block_q=64, block_k=64, causal=False):
    dt = torch.promote_types(q.dtype, torch.float32)
    B, H, T, d = q.shape
    S = k.shape[2]
    K, V = k.to(dt), v.to(dt)
    o_all, l_all = [], []
    for a in range(0, T, block_q):
        x = q[:, :, a : a + block_q].to(dt) * d**-0.5
        n = x.shape[2]
        out = torch.zeros_like(x)
        lse = x.new_full((B, H, n), -math.inf)
        for b in range(0, S, block_k):
            if causal and b > a + n - 1 + S - T:
                break
            s = torch.einsum("bhtd,bhsd->bhts", x, K[:, :, b : b + block_k])
            hide = torch.zeros(n, s.shape[-1], dtype=torch.bool, device=q.device)
            if causal:
                hide = torch.ones_like(hide).triu(a + S - T - b + 1)
            s = s.masked_fill(hide, -math.inf)
            none = hide.all(-1)
            m = s.detach().amax(-1).masked_fill(none, 0.0)
            e = (s - m[..., None]).exp()
            t = e.sum(-1)
            part = (m + t.masked_fill(none, 1.0).log()).masked_fill(none, -math.inf)
            top = torch.maximum(lse, part).detach()
            safe = top.masked_fill(top == -math.inf, 0.0)
            wa, wb = (lse - safe).exp(), (part - safe).exp()
            tot = wa + wb
            dead = tot == 0
            tot = tot.masked_fill(dead, 1.0)
            val = e @ V[:, :, b : b + block_k] / t.masked_fill(none, 1.0)[..., None]
            out = out * (wa / tot)[..., None] + val * (wb / tot)[..., None]
            lse = (safe + tot.log()).masked_fill(dead, -math.inf)
        o_all.append(out)
        l_all.append(lse)
    return torch.cat(o_all, 2).to(q.dtype), torch.cat(l_all, 2)
