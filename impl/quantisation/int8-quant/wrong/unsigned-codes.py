"""Puts the asymmetric codes on 0 … 255 and casts them to int8.
非对称编码取 0 … 255，再转成 int8。

symptom: Codes from 128 on wrap to negative numbers.
症状：128 以上的编码绕成负数。

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
    zero = torch.zeros_like(scale) if symmetric else (-low / scale).round()
    q = (x / scale + zero).round().clamp(-127 if symmetric else 0, 127 if symmetric else 255)
    return q.to(torch.int32).to(torch.int8), scale, zero.to(torch.int32)


def dequantize(q, scale, zero):
    return (q.to(scale.dtype) - zero) * scale
