"""Adds the zero point before it is rounded.
编码时用了未取整的零点。

symptom: 0 does not come back as 0, and errors pass half a step.
症状：0 还原后不再是 0，误差也超过半步。

cards: prec-11
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
    zero = torch.zeros_like(scale) if symmetric else -128 - low / scale
    q = (x / scale + zero).round().clamp(-127 if symmetric else -128, 127)
    return q.to(torch.int8), scale, zero.round().to(torch.int32)


def dequantize(q, scale, zero):
    return (q.to(scale.dtype) - zero) * scale
