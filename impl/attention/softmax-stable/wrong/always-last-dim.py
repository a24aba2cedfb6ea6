"""Ignores dim.
不理会 dim。

symptom: Right with the default only.
症状：默认参数时才对。

cards: att-05
rung: solved
"""
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    peak = wide.amax(-1, keepdim=True)
    peak = peak.masked_fill(peak == float("-inf"), 0.0)
    weights = (wide - peak).exp()
    total = weights.sum(-1, keepdim=True)
    total = total.masked_fill(total == 0, 1.0)
    return (weights / total).to(x.dtype)
