"""Returns scales without the reduced dimensions.
scale 没有保留被归约的维度。

symptom: They broadcast against the last dimension, silently on square weights.
症状：会和最后一维广播，方阵上悄悄算错。

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
    zero = torch.zeros_like(scale) if symmetric else (-128 - low / scale).round()
    q = (x / scale + zero).round().clamp(-127 if symmetric else -128, 127)
    return q.to(torch.int8), scale.squeeze(), zero.to(torch.int32).squeeze()


def dequantize(q, scale, zero):
    return (q.to(scale.dtype) - zero) * scale
