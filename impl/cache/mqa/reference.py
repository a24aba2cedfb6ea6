"""Multi-query attention: every head has its own queries, all heads share one key and one value head.

Decoding reads the whole cache for each token; one head of keys and values makes it H times smaller. The score FLOPs stay
those of H heads. Decisions:
- weights act as x @ w; head h is the contiguous slice h·d … (h+1)·d−1 of x @ wq, and of what wo takes;
- keys and values are never repeated: the heads are stacked along the token axis, so one product serves all;
- scale 1/√d, the width of one head; float16 and bfloat16 are computed in float32 and rounded once, at the end.

Shazeer 2019, arXiv 1911.02150, §3.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def mqa(x: Tensor, wq: Tensor, wk: Tensor, wv: Tensor, wo: Tensor, H: int, causal: bool = True) -> Tensor:
    dtype = x.dtype
    wide = torch.promote_types(dtype, torch.float32)
    x, wq, wk, wv, wo = (t.to(wide) for t in (x, wq, wk, wv, wo))
    B, T, _ = x.shape
    d = wk.shape[1]

    q = (x @ wq).reshape(B, T, H, d).transpose(1, 2).reshape(B, H * T, d)  # heads one below the other
    k, v = x @ wk, x @ wv  # (B, T, d) each: one head
    scores = (q @ k.transpose(-2, -1) / math.sqrt(d)).reshape(B, H, T, T)
    if causal:
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)  # (T, T)
        scores = scores.masked_fill(future, float("-inf"))
    weights = torch.softmax(scores, dim=-1).reshape(B, H * T, T)
    heads = (weights @ v).reshape(B, H, T, d)
    return (heads.transpose(1, 2).reshape(B, T, H * d) @ wo).to(dtype)  # (B, T, D)
