"""One decoding step with rotary positions: a key is rotated once, when it is written, and cached rotated.

A rotated key R_m k never changes: its score with a later query R_n q is qᵀR_(n−m)k, a function of the distance. Decisions:
- the cache holds rotated keys and plain values, joined behind the old ones into a new dict; values have no position;
- positions come from outside, one for each row: the length of the cache is not a position (left padding, shared prefixes);
- pair (2i, 2i + 1) turns by pos·base^(−2i/d); every cached key is visible;
- angles and scores are computed in float32 or wider; what is cached is rounded to the dtype of the inputs.

Su et al. 2021, arXiv 2104.09864, §3.2.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

Cache = dict[str, Tensor]


def rope_decode_step(
    q: Tensor, k: Tensor, v: Tensor, cache: Cache, pos: Tensor, base: float = 10000.0
) -> tuple[Tensor, Cache]:
    q, k, v = turned(q, pos, base), turned(k, pos, base), v.clone()
    if cache:
        k = torch.cat([cache["k"], k], dim=2)  # (B, H, t + 1, d)
        v = torch.cat([cache["v"], v], dim=2)
    wide = torch.promote_types(q.dtype, torch.float32)
    scores = q.to(wide) @ k.to(wide).transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, 1, t + 1)
    out = (torch.softmax(scores, dim=-1) @ v.to(wide)).to(q.dtype)  # (B, H, 1, d)
    return out, {"k": k, "v": v}


def turned(x: Tensor, pos: Tensor, base: float) -> Tensor:
    d = x.shape[-1]
    frequency = base ** (-torch.arange(0, d, 2, dtype=torch.float64, device=x.device) / d)  # (d/2,)
    angle = pos[:, None, :, None].to(torch.float64) * frequency  # (B, 1, 1, d/2)
    wide = torch.promote_types(x.dtype, torch.float32)
    cos, sin = angle.cos().to(wide), angle.sin().to(wide)
    a, b = x[..., 0::2].to(wide), x[..., 1::2].to(wide)  # (B, H, 1, d/2) each
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2).to(x.dtype)
