"""Brings the kept dimension to the front and flattens the others; multiplies by the reciprocal."""

import torch


def quantize_int8(w, axis, symmetric):
    x = w.float() if w.dtype in (torch.float16, torch.bfloat16) else w
    flat = x.reshape(1, -1) if axis is None else x.movedim(axis, 0).reshape(x.shape[axis], -1)
    low, high = torch.aminmax(flat, dim=1)
    if symmetric:
        scale, lowest = torch.maximum(low.abs(), high.abs()) / 127, -127
    else:
        low, high = low.clamp(max=0.0), high.clamp(min=0.0)
        scale, lowest = (high - low) / 255, -128
    scale = scale.masked_fill(scale == 0, 1.0)
    zero = torch.zeros_like(scale, dtype=torch.int64)
    if not symmetric:
        zero = torch.round(-128.0 - low / scale).long()
    shape = [1] * x.dim()
    if axis is not None:
        shape[axis] = -1
    scale, zero = scale.view(shape), zero.view(shape)
    q = torch.clamp(torch.round(x * scale.reciprocal()).long() + zero, lowest, 127)
    return q.to(torch.int8), scale, zero.to(torch.int32)


def dequantize(q, scale, zero):
    return q.to(scale.dtype).mul(scale) - zero.to(scale.dtype).mul(scale)
