"""Detaches the denominator.
分母被 detach。

symptom: Right values; the gradient lacks −p_i·p_j.
症状：值都对，梯度少了 −p_i·p_j。

cards: att-04
rung: solved
"""
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    peak = wide.detach().amax(dim, keepdim=True)
    peak = peak.masked_fill(peak == float("-inf"), 0.0)
    weights = (wide - peak).exp()
    total = weights.detach().sum(dim, keepdim=True)
    return (weights / total.masked_fill(total == 0, 1.0)).to(x.dtype)
