"""Turns −inf into −1e9 first, so an empty slice becomes uniform.
先把 −inf 换成 −1e9，空切片于是变成均匀分布。

symptom: Fully padded rows attend evenly to the padding.
症状：全是 padding 的行会平均地关注 padding。

cards: mask-05
rung: solved
"""
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    wide = wide.clamp(min=-1e9)
    weights = (wide - wide.amax(dim, keepdim=True)).exp()
    return (weights / weights.sum(dim, keepdim=True)).to(x.dtype)
