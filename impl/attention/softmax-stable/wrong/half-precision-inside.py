"""Computes 16 bits in their own precision.
16 位直接用原精度计算。

symptom: A long float16 slice sums to inf and gives zeros.
症状：很长的 float16 切片和成 inf，结果全 0。

cards: prec-07
rung: hardened
"""
import torch


def softmax(x, dim=-1):
    peak = x.amax(dim, keepdim=True)
    peak = peak.masked_fill(peak == float("-inf"), 0.0)
    weights = (x - peak).exp()
    total = weights.sum(dim, keepdim=True)
    total = total.masked_fill(total == 0, 1.0)
    return weights / total
