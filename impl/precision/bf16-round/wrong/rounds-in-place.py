"""Adds to the caller's tensor through a view.
通过 view 改了调用者的张量。

symptom: A second call on the same tensor differs.
症状：对同一个张量再调用，结果就变了。

cards: prec-06
rung: solved
"""
import torch

INFINITY = 0x7F800000


def split(x):
    bits = x.view(torch.int32)
    return bits & -(2**31), bits & 0x7FFFFFFF


def rounded(number, dropped):
    half = 1 << (dropped - 1)
    return ((number + half - 1 + ((number >> dropped) & 1)) >> dropped) << dropped


def round_to_bf16(x):
    bits = x.view(torch.int32)
    up = torch.where(x.isfinite(), 0x7FFF + ((bits >> 16) & 1), 0)
    bits += up
    return torch.where(x.isnan(), x, (bits & -65536).view(torch.float32))


def round_to_fp16(x):
    sign, size = split(x)
    normal = rounded(size.clamp(max=INFINITY), 13)
    normal = torch.where(normal >= 0x47800000, INFINITY, normal)
    steps = torch.round(size.view(torch.float32).clamp(max=1.0) * 2.0**24)
    small = (steps * 2.0**-24).view(torch.int32)
    y = (sign | torch.where(size < 0x38800000, small, normal)).view(torch.float32)
    return torch.where(x.isnan(), x, y)
