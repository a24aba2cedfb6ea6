"""Casts to int8 without rounding.
没有舍入就直接转成 int8。

symptom: Everything is drawn towards 0 by half a step on average.
症状：所有数平均向 0 偏半步。

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
        scale = torch.maximum(-low, high) / 127
    else:
        scale = (high - low) / 255
    scale = torch.where(scale == 0, torch.ones_like(scale), scale)
    zero = torch.zeros_like(scale) if symmetric else (-128 - low / scale).round()
    q = (x / scale + zero).clamp(-127 if symmetric else -128, 127)
    return q.to(torch.int8), scale, zero.to(torch.int32)


def dequantize(q, scale, zero):
    return (q.to(scale.dtype) - zero) * scale
