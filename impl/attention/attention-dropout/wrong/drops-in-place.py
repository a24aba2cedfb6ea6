"""Zeroes the caller's tensor.
直接把调用者的张量清零。

symptom: The map shown afterwards is no attention distribution.
症状：之后画出的图不是注意力分布。

cards: mask-12
rung: solved
"""
import torch


def attention_dropout(weights, p, training, generator=None):
    if not training or p == 0:
        return weights
    if p == 1:
        return weights * 0.0
    keep = torch.rand(weights.shape, generator=generator, device=weights.device) >= p
    with torch.no_grad():
        weights.mul_(keep)
    return weights * keep / (1 - p)
