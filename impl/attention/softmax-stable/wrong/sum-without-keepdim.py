"""Sums without keepdim.
求和没写 keepdim。

symptom: Most shapes fail; square ones are silently wrong.
症状：多数形状报错，方阵悄悄算错。

cards: att-05
rung: solved
"""
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    peak = wide.amax(dim, keepdim=True)
    peak = peak.masked_fill(peak == float("-inf"), 0.0)
    weights = (wide - peak).exp()
    total = weights.sum(dim)
    total = total.masked_fill(total == 0, 1.0)
    return (weights / total).to(x.dtype)
