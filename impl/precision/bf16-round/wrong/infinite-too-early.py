"""Makes all above 65504 infinite before rounding.
没舍入就把大于 65504 的变成无穷。

symptom: 65505 becomes inf instead of 65504.
症状：65505 变成 inf，不是 65504。

cards: prec-02
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
    sign, size = split(x)
    y = (sign | rounded(size.clamp(max=INFINITY), 16)).view(torch.float32)
    return torch.where(x.isnan(), x, y)


def round_to_fp16(x):
    sign, size = split(x)
    normal = rounded(size.clamp(max=INFINITY), 13)
    normal = torch.where(size > 0x477FE000, INFINITY, normal)
    steps = torch.round(size.view(torch.float32).clamp(max=1.0) * 2.0**24)
    small = (steps * 2.0**-24).view(torch.int32)
    y = (sign | torch.where(size < 0x38800000, small, normal)).view(torch.float32)
    return torch.where(x.isnan(), x, y)
