"""Maps min … max to the codes although 0 lies outside.
范围只取 min … max，不包含 0。

symptom: Weights all above 0: the zero point leaves int8, and 0 is not a code.
症状：权重全为正时零点超出 int8，0 没有对应的编码。

cards: prec-11
rung: solved
"""

import torch


def quantize_int8(w, axis, symmetric):
    x = w.to(torch.promote_types(w.dtype, torch.float32))
    reduced = [dim for dim in range(x.dim()) if dim != axis]
    low = x.amin(reduced, keepdim=True)
    high = x.amax(reduced, keepdim=True)
    if symmetric:
        scale = torch.maximum(low.abs(), high.abs()) / 127
    else:
        scale = (high - low) / 255
    scale = torch.where(scale == 0, torch.ones_like(scale), scale)
    zero = torch.zeros_like(scale) if symmetric else (-128 - low / scale).round()
    q = (x / scale + zero).round().clamp(-127 if symmetric else -128, 127)
    return q.to(torch.int8), scale, zero.to(torch.int32)


def dequantize(q, scale, zero):
    return (q.to(scale.dtype) - zero) * scale
