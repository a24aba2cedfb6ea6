"""Gives every block of queries the mask's first rows.
query 分块，每块都用掩码的前几行。

symptom: Wrong from the 17th query on.
症状：从第 17 个 query 开始错。

cards: mask-01
rung: solved
"""

from __future__ import annotations

import torch


def sdpa(q, k, v, mask=None, scale=None):
    dtype = q.dtype
    q, k, v = (t.float() if dtype in (torch.float16, torch.bfloat16) else t for t in (q, k, v))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    T, S = q.shape[-2], k.shape[-2]
    if mask is not None:
        mask = mask.expand(*q.shape[:-1], S)
    outs = []
    for i in range(0, T, 16):
        s = q[..., i : i + 16, :] @ k.transpose(-1, -2) * scale
        if mask is not None:
            m = mask[..., : s.shape[-2], :]  # forgets the offset i
            s = s.masked_fill(~m, float("-inf")).masked_fill(~m.any(-1, keepdim=True), 0.0)
            w = torch.softmax(s, -1).masked_fill(~m.any(-1, keepdim=True), 0.0)
        else:
            w = torch.softmax(s, -1)
        outs.append(w @ v)
    return torch.cat(outs, -2).to(dtype)
