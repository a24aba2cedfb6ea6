"""Clamps the logits to ±80 instead of subtracting the maximum.
把 logits 截断到 ±80，而不是减最大值。

symptom: Logits of 200 and 300 come out equal.
症状：200 和 300 的 logit 得到相同的概率。

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
