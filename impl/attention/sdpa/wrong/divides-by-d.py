"""Divides by d, not √d.
除以 d，而不是 √d。

symptom: Wide heads are nearly uniform.
症状：头一宽，注意力几乎均匀。

cards: att-02, att-23
rung: solved
"""
import torch


def sdpa(q, k, v, mask=None, scale=None):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    scale = 1.0 / q.shape[-1] if scale is None else scale
    scores = q @ k.mT * scale
    if mask is None:
        return (scores.softmax(-1) @ v).to(dtype)
    empty = ~mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return (scores.softmax(-1).masked_fill(empty, 0.0) @ v).to(dtype)
