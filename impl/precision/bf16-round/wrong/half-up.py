"""Rounds ties away from zero.
平局时远离零舍入。

symptom: 2049 becomes 2050 in float16.
症状：float16 里 2049 变成了 2050。

cards: prec-01
rung: solved
"""
import torch

INFINITY = 0x7F800000


def split(x):
    bits = x.view(torch.int32)
    return bits & -(2**31), bits & 0x7FFFFFFF


def rounded(number, dropped):
    half = 1 << (dropped - 1)
    return ((number + half) >> dropped) << dropped


def round_to_bf16(x):
    sign, size = split(x)
    y = (sign | rounded(size.clamp(max=INFINITY), 16)).view(torch.float32)
    return torch.where(x.isnan(), x, y)


def round_to_fp16(x):
    sign, size = split(x)
    normal = rounded(size.clamp(max=INFINITY), 13)
    normal = torch.where(normal >= 0x47800000, INFINITY, normal)
    steps = torch.floor(size.view(torch.float32).clamp(max=1.0).double() * 2.0**24 + 0.5).float()
    small = (steps * 2.0**-24).view(torch.int32)
    y = (sign | torch.where(size < 0x38800000, small, normal)).view(torch.float32)
    return torch.where(x.isnan(), x, y)
