"""Subtracts one maximum from the whole tensor.
整个张量只减一个最大值。

symptom: A row far below it becomes zeros.
症状：比它低很多的行变成全 0。

cards: att-24
rung: solved
"""
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    peak = wide.max()
    if peak.device.type != "meta" and peak == float("-inf"):
        peak = torch.zeros_like(peak)
    weights = (wide - peak).exp()
    total = weights.sum(dim, keepdim=True)
    total = total.masked_fill(total == 0, 1.0)
    return (weights / total).to(x.dtype)
