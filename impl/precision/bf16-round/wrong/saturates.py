"""Stops at the largest finite number.
停在最大有限数。

symptom: Overflows go unnoticed; a loss scaler never backs off.
症状：溢出没人发现，loss scaler 从不回退。

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
    size = torch.where(size == INFINITY, size, size.clamp(max=0x7F7F0000))
    y = (sign | rounded(size, 16)).view(torch.float32)
    return torch.where(x.isnan(), x, y)


def round_to_fp16(x):
    sign, size = split(x)
    normal = rounded(size.clamp(max=INFINITY), 13)
    normal = torch.where(size >= INFINITY, INFINITY, normal.clamp(max=0x477FE000))
    steps = torch.round(size.view(torch.float32).clamp(max=1.0) * 2.0**24)
    small = (steps * 2.0**-24).view(torch.int32)
    y = (sign | torch.where(size < 0x38800000, small, normal)).view(torch.float32)
    return torch.where(x.isnan(), x, y)
