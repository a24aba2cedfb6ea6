"""Sums without keepdim, so the totals are divided along the wrong dimension.
求和时没写 keepdim，分母沿错误的维度广播。

symptom: An error for most shapes, silently wrong numbers for square ones.
症状：多数形状直接报错，方阵则悄悄算错。

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
