"""Subtracts the zero point in int8.
还原时在 int8 里减零点。

symptom: 127 − (−128) wraps to −1.
症状：127 − (−128) 绕回成 −1。

cards: prec-21
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
    q = (x / scale + zero).round().clamp(-127 if symmetric else -128, 127)
    return q.to(torch.int8), scale, zero.to(torch.int32)


def dequantize(q, scale, zero):
    return (q - zero.to(torch.int8)).to(scale.dtype) * scale
