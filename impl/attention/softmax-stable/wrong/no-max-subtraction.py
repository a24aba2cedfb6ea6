"""Exponentiates raw logits.
直接对原始 logits 取指数。

symptom: NaN once a logit passes 89.
症状：logit 一过 89 就出 NaN。

cards: att-24
rung: solved
"""
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    weights = wide.exp()
    total = weights.sum(dim, keepdim=True)
    total = total.masked_fill(total == 0, 1.0)
    return (weights / total).to(x.dtype)
