"""Divides the symmetric range by 128.
对称量化除以了 128。

symptom: The largest positive number would need the code 128; clamped, it is off by a whole step.
症状：最大的正数需要编码 128；截断之后差一整步。

cards: prec-12
rung: solved
"""

import torch


def quantize_int8(w, axis, symmetric):
    x = w.to(torch.promote_types(w.dtype, torch.float32))
    reduced = [dim for dim in range(x.dim()) if dim != axis]
    low = x.amin(reduced, keepdim=True).clamp(max=0)
    high = x.amax(reduced, keepdim=True).clamp(min=0)
    if symmetric:
        scale = torch.maximum(-low, high) / 128
    else:
        scale = (high - low) / 255
    scale = torch.where(scale == 0, torch.ones_like(scale), scale)
    zero = torch.zeros_like(scale) if symmetric else (-128 - low / scale).round()
    q = (x / scale + zero).round().clamp(-127 if symmetric else -128, 127)
    return q.to(torch.int8), scale, zero.to(torch.int32)


def dequantize(q, scale, zero):
    return (q.to(scale.dtype) - zero) * scale
