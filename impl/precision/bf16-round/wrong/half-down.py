"""Rounds ties towards zero.
平局时向零舍入。

symptom: Ties lose half a step whatever the last bit.
症状：不管末位是几，平局总少半步。

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
    return ((number + half - 1) >> dropped) << dropped


def round_to_bf16(x):
    sign, size = split(x)
    y = (sign | rounded(size.clamp(max=INFINITY), 16)).view(torch.float32)
    return torch.where(x.isnan(), x, y)


def round_to_fp16(x):
    sign, size = split(x)
    normal = rounded(size.clamp(max=INFINITY), 13)
    normal = torch.where(normal >= 0x47800000, INFINITY, normal)
    steps = torch.ceil(size.view(torch.float32).clamp(max=1.0).double() * 2.0**24 - 0.5).float()
    small = (steps.abs() * 2.0**-24).view(torch.int32)
    y = (sign | torch.where(size < 0x38800000, small, normal)).view(torch.float32)
    return torch.where(x.isnan(), x, y)
