"""Computes −inf − (−inf) in an empty slice.
全 −inf 的切片算 −inf − (−inf)。

symptom: A fully masked row is NaN.
症状：全掩码的行是 NaN。

cards: mask-04
rung: hardened
"""
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    weights = (wide - wide.amax(dim, keepdim=True)).exp()
    return (weights / weights.sum(dim, keepdim=True)).to(x.dtype)
