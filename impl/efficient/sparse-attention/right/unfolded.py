"""Keys unfolded into windows, sinks apart, one softmax."""

from __future__ import annotations

import math
import torch
import torch.nn.functional as F
from torch import Tensor


def sliding_window_attention(q, k, v, window, n_sink=0, causal=True):
    dt = torch.promote_types(q.dtype, torch.float32)
    B, H, T, d = q.shape
    w = min(window, T)
    s = min(n_sink, T)
    right = 0 if causal else w - 1
    Q, K, V = q.to(dt), k.to(dt), v.to(dt)
    pad = (0, 0, w - 1, right)
    kw = F.pad(K, pad).unfold(2, w + right, 1).transpose(-1, -2)
    vw = F.pad(V, pad).unfold(2, w + right, 1).transpose(-1, -2)
    i = torch.arange(T, device=q.device)[:, None]
    j = i - (w - 1) + torch.arange(w + right, device=q.device)
    a = torch.einsum("bhtd,bhtwd->bhtw", Q, kw).masked_fill((j < 0) | (j >= T), -math.inf)
    js = torch.arange(s, device=q.device)
    hide = (js > i) if causal else ((js - i).abs() < w)
    hide = hide | ((i - js).abs() < w)
    b = (Q @ K[:, :, :s].mT).masked_fill(hide, -math.inf)
    p = torch.softmax(torch.cat([a, b], -1) * d**-0.5, -1)
    out = torch.einsum("bhtw,bhtwd->bhtd", p[..., : w + right], vw) + p[..., w + right :] @ V[:, :, :s]
    return out.to(q.dtype)
