"""Sums exponentials in 16 bits.
指数的和用 16 位存。

symptom: A float16 slice of 70,000 entries gives zeros.
症状：7 万个元素的 float16 切片结果全 0。

cards: prec-07
rung: hardened
"""
import torch


def softmax(x, dim=-1):
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    peak = wide.amax(dim, keepdim=True)
    peak = peak.masked_fill(peak == float("-inf"), 0.0)
    weights = (wide - peak).exp()
    total = weights.sum(dim, keepdim=True, dtype=x.dtype)
    total = total.masked_fill(total == 0, 1.0)
    return (weights / total).to(x.dtype)
