"""Casts float64 to float32.
float64 中途被转成 float32。

symptom: gradcheck fails.
症状：gradcheck 过不了。

cards: prec-07
rung: hardened
"""
import torch


def softmax(x, dim=-1):
    wide = x.float()
    peak = wide.amax(dim, keepdim=True)
    peak = peak.masked_fill(peak == float("-inf"), 0.0)
    weights = (wide - peak).exp()
    total = weights.sum(dim, keepdim=True)
    return (weights / total.masked_fill(total == 0, 1.0)).to(x.dtype)
