"""One slice after the other, flattened, with the codes by floor(x + ½)."""

import torch


def one(row, symmetric):
    low, high = min(float(row.min()), 0.0), max(float(row.max()), 0.0)
    span = max(-low, high) / 127 if symmetric else (high - low) / 255
    scale = span or 1.0
    zero = 0 if symmetric else round(-128 - low / scale)
    q = torch.floor(row / scale + 0.5).to(torch.int32) + zero
    return q.clamp(-127 if symmetric else -128, 127).to(torch.int8), scale, zero


def quantize_int8(w, axis, symmetric):
    wide = torch.promote_types(w.dtype, torch.float32)
    x = w.to(wide)
    shape = [1] * x.dim()
    if axis is None:
        rows = [x]
    else:
        shape[axis] = x.shape[axis]
        rows = list(x.unbind(axis))
    parts = [one(row.double(), symmetric) for row in rows]
    q = parts[0][0] if axis is None else torch.stack([part[0] for part in parts], dim=axis)
    scale = torch.tensor([part[1] for part in parts], dtype=wide, device=w.device).reshape(shape)
    zero = torch.tensor([part[2] for part in parts], dtype=torch.int32, device=w.device).reshape(shape)
    return q, scale, zero


def dequantize(q, scale, zero):
    return scale * (q.to(torch.int32) - zero.to(torch.int32)).to(scale.dtype)
