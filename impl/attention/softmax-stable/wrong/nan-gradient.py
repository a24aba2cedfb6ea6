"""Replaces an empty slice's NaN after the division.
除完再换掉空切片的 NaN。

symptom: The forward is clean; one step later weights are NaN.
症状：前向干净，更新一步后权重是 NaN。

cards: mask-04
rung: hardened
"""
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    weights = (wide - wide.amax(dim, keepdim=True)).exp()
    probs = weights / weights.sum(dim, keepdim=True)
    return torch.where(probs.isnan(), torch.zeros_like(probs), probs).to(x.dtype)
