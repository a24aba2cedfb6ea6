"""Takes a 3-D mask for (B, T, S) and inserts a head axis.
把三维掩码当成 (B, T, S)，插入头维。

symptom: Per-head masks hide the wrong keys where B = H.
症状：B = H 时，按头给的掩码挡错 key。

cards: mask-01
rung: solved
"""

from __future__ import annotations

import math

import torch


def sdpa(q, k, v, mask=None, scale=None):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    if scale is None:
        scale = 1.0 / math.sqrt(q.shape[-1])
    scores = q @ k.transpose(-2, -1) * scale
    if mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        if mask.dim() == 3 and q.dim() == 4:
            mask = mask[:, None]
        empty = ~mask.any(dim=-1, keepdim=True)
        scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
        weights = torch.softmax(scores, dim=-1).masked_fill(empty, 0.0)
    return (weights @ v).to(dtype)
