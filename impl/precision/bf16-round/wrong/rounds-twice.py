"""Rounds to 14 mantissa bits first.
先舍入到 14 位尾数。

symptom: Just below a tie is lifted onto it, then above.
症状：略低于平局点的先抬到平局点，再抬上去。

cards: prec-01
rung: solved
"""
import torch

INFINITY = 0x7F800000


def split(x):
    bits = x.view(torch.int32)
    return bits & -(2**31), bits & 0x7FFFFFFF


def rounded(number, dropped):
    if dropped > 9:
        number = rounded(number, 9)
    half = 1 << (dropped - 1)
    return ((number + half - 1 + ((number >> dropped) & 1)) >> dropped) << dropped


def round_to_bf16(x):
    sign, size = split(x)
    y = (sign | rounded(size.clamp(max=INFINITY), 16)).view(torch.float32)
    return torch.where(x.isnan(), x, y)


def round_to_fp16(x):
    sign, size = split(x)
    normal = rounded(size.clamp(max=INFINITY), 13)
    normal = torch.where(normal >= 0x47800000, INFINITY, normal)
    steps = torch.round(size.view(torch.float32).clamp(max=1.0) * 2.0**24)
    small = (steps * 2.0**-24).view(torch.int32)
    y = (sign | torch.where(size < 0x38800000, small, normal)).view(torch.float32)
    return torch.where(x.isnan(), x, y)
