"""Computes float16 and bfloat16 in their own precision."""
import torch


def softmax(x, dim=-1):
    peak = x.amax(dim, keepdim=True)
    peak = peak.masked_fill(peak == float("-inf"), 0.0)
    weights = (x - peak).exp()
    total = weights.sum(dim, keepdim=True)
    total = total.masked_fill(total == 0, 1.0)
    return weights / total
