"""Adds a small constant to the denominator.
分母加了小常数。

symptom: Slices sum to less than 1.
症状：切片之和略小于 1。

cards: att-24
rung: hardened
"""
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    peak = wide.amax(dim, keepdim=True)
    peak = peak.masked_fill(peak == float("-inf"), 0.0)
    weights = (wide - peak).exp()
    return (weights / (weights.sum(dim, keepdim=True) + 1e-6)).to(x.dtype)
