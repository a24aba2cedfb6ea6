"""Takes scale and codes of 16-bit weights in 16 bits.
16 位权重的 scale 和编码也用 16 位算。

symptom: A bfloat16 scale has 8 bits: codes near 127 are off by up to half a step more.
症状：bfloat16 的 scale 只有 8 位有效数字，127 附近的编码又多偏近半步。

cards: prec-01
rung: hardened
"""

import torch


def quantize_int8(w, axis, symmetric):
    x = w
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
    return (q.to(scale.dtype) - zero) * scale
