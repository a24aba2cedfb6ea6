"""Forgets to divide the scores by √d.
忘了除以 √d。

symptom: Wide heads are nearly one-hot.
症状：头一宽，几乎是 one-hot。

cards: att-02
rung: solved
"""
import torch


def sdpa(q, k, v, mask=None, scale=None):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    scores = q @ k.mT
    if scale is not None:
        scores = scores * scale
    if mask is None:
        return (scores.softmax(-1) @ v).to(dtype)
    empty = ~mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return (scores.softmax(-1).masked_fill(empty, 0.0) @ v).to(dtype)
