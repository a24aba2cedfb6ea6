"""Takes a mask of three dimensions for (B, T, S) and inserts an axis for the heads.
把三维掩码当成 (B, T, S)，自作主张插入一个头维。

symptom: A mask per head hides the wrong keys as soon as B = H.
症状：B = H 时，按头给的掩码挡错了 key。

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
