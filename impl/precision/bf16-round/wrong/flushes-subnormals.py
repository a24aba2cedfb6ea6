"""Flushes float16's subnormals to zero.
把 float16 的次正规数清零。

symptom: Gradients below 6·10⁻⁵ vanish.
症状：小于 6·10⁻⁵ 的梯度消失。

cards: prec-01, prec-03
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
    normal = torch.where(normal >= 0x47800000, INFINITY, normal)
    small = torch.zeros_like(size)
    y = (sign | torch.where(size < 0x38800000, small, normal)).view(torch.float32)
    return torch.where(x.isnan(), x, y)
