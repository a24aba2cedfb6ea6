"""Divides by the whole tensor's sum.
除以整个张量的和。

symptom: Only all rows together sum to 1.
症状：所有行加起来才等于 1。

cards: att-05
rung: solved
"""
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    peak = wide.amax(dim, keepdim=True)
    peak = peak.masked_fill(peak == float("-inf"), 0.0)
    weights = (wide - peak).exp()
    total = weights.sum()
    total = total.masked_fill(total == 0, 1.0)
    return (weights / total).to(x.dtype)
