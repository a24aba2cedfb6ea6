"""Zeroes the entries in the caller's tensor.
直接在调用者的张量上清零。

symptom: The map that is shown afterwards is not the attention distribution.
症状：之后拿去画图的已经不是注意力分布了。

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
