"""Divides by the unbiased std + eps.
除以无偏的 std 加 eps。

symptom: Far off where the spread is small.
症状：离散程度小的时候差得很远。

cards: norm-04
rung: solved
"""
import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    mean = y.mean(-1, keepdim=True)
    out = (y - mean) / (y.std(-1, keepdim=True) + eps)
    return (out * gamma.to(wide) + beta.to(wide)).to(x.dtype)
