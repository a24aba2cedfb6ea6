"""Reuses one buffer per shape.
同一形状反复用同一缓冲区。

symptom: A second call changes the first result.
症状：第二次调用会改掉第一次的结果。

cards: att-24
rung: hardened
"""
import torch

buffers = {}


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    peak = wide.amax(dim, keepdim=True)
    peak = peak.masked_fill(peak == float("-inf"), 0.0)
    weights = (wide - peak).exp()
    total = weights.sum(dim, keepdim=True)
    probs = (weights / total.masked_fill(total == 0, 1.0)).to(x.dtype)
    if x.requires_grad:
        return probs
    kept = buffers.setdefault((x.shape, x.dtype, x.device), torch.empty_like(probs))
    return kept.copy_(probs)
