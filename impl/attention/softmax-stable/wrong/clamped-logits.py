"""Clamps logits to ±80.
logits 截断到 ±80。

symptom: 200 and 300 come out equal.
症状：200 和 300 得到相同概率。

cards: att-24
rung: solved
"""
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    weights = wide.clamp(-80.0, 80.0).exp() * (wide != float("-inf"))
    total = weights.sum(dim, keepdim=True)
    total = total.masked_fill(total == 0, 1.0)
    return (weights / total).to(x.dtype)
