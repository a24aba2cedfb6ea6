"""Subtracts the maximum from the caller's tensor.
直接在调用者的张量上减最大值。

symptom: The logits have changed.
症状：调用之后 logits 变了。

cards: att-24
rung: solved
"""
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    with torch.no_grad():
        peak = wide.amax(dim, keepdim=True)
        peak = peak.masked_fill(peak == float("-inf"), 0.0)
        wide -= peak
    weights = wide.exp()
    total = weights.sum(dim, keepdim=True)
    return (weights / total.masked_fill(total == 0, 1.0)).to(x.dtype)
