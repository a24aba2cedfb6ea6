"""Draws one number per key and drops it for all queries.
每个 key 只抽一次，对所有 query 一起丢。

symptom: Whole columns vanish.
症状：整列整列地消失。

cards: mask-12
rung: solved
"""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0.0
    keep = torch.rand((*weights.shape[:-2], 1, weights.shape[-1]), generator=generator, device=weights.device) >= p
    return weights * keep / (1 - p)
