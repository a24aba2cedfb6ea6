"""Flash-decoding: the result of the two kernels, in plain torch.

The kernels' own decisions:
- one query a head and sequence leaves most of a GPU idle, so the keys are cut into `splits` runs, a program for each;
- a program handles all query heads of a group: keys and values are loaded once, whatever H/G is;
- it stores its normalised part and the lse of its scores in float32; a second kernel merges, since programs of one
  launch cannot wait for each other. The weight of a part is exp(lse − largest lse), normalised;
- a split without keys has lse −inf, weight 0, and a finite part.

Bytes: 2·B·G·S·d·itemsize, and B·H·splits·(d + 1)·4 written and read. Operations: 4·B·H·S·d.

Dao, Haziza, Massa, Sizov 2023, Flash-Decoding for long-context inference.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def flash_decode(q: Tensor, k: Tensor, v: Tensor, splits: int) -> Tensor:
    (B, H, d), G = q.shape, k.shape[1]
    wide = torch.promote_types(q.dtype, torch.float32)
    queries = q.to(wide).reshape(B, G, H // G, d)  # head h reads group h // (H/G)
    keys, values = k.to(wide), v.to(wide)  # (B, G, S, d)
    parts, lses = [], []
    for run in torch.arange(k.shape[2], device=k.device).tensor_split(splits):
        scores = queries @ keys[:, :, run].transpose(-2, -1) / math.sqrt(d)  # (B, G, H/G, s)
        parts.append(torch.softmax(scores, dim=-1) @ values[:, :, run])  # (B, G, H/G, d), 0 where s = 0
        lses.append(torch.logsumexp(scores, dim=-1))  # (B, G, H/G), −inf where s = 0

    weights = torch.softmax(torch.stack(lses), dim=0)  # (splits, B, G, H/G)
    out = (weights[..., None] * torch.stack(parts)).sum(dim=0)  # (B, G, H/G, d)
    return out.reshape(B, H, d).to(q.dtype)
