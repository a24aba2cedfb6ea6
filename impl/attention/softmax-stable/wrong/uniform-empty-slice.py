"""Turns −inf into a finite number such as −1e9.
把 −inf 换成 −1e9 之类的有限值。

symptom: Empty slices become uniform.
症状：空切片变成均匀分布。

cards: mask-05
rung: hardened
"""
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    wide = wide.clamp(min=-1e9)
    weights = (wide - wide.amax(dim, keepdim=True)).exp()
    return (weights / weights.sum(dim, keepdim=True)).to(x.dtype)
