"""Draws one number per key for all queries.
每个 key 只抽一次，所有 query 共用。

symptom: Whole columns vanish.
症状：整列消失。

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
