"""Int8 by rounding: a slice of numbers shares one scale, and 256 equal steps stand for its range.

Decisions:
- `axis` is the kept dimension: one scale per index along it; None is one scale for the whole tensor;
- symmetric: the largest magnitude becomes ±127, zero point 0, so a product of codes needs one multiplication by scales;
- asymmetric: min … max becomes −128 … 127; the range always contains 0 and the zero point is a whole number, so that 0,
  the padding and the output of ReLU, comes back exactly;
- a slice of zeros has no range: scale 1 instead of a division by 0;
- 16-bit weights are widened first: their own scale would be off by up to 1 part in 512.

Jacob et al. 2017, arXiv 1712.05877, Section 2.1.
"""

from __future__ import annotations

import torch
from torch import Tensor


def quantize_int8(w: Tensor, axis: int | None, symmetric: bool) -> tuple[Tensor, Tensor, Tensor]:
    x = w.to(torch.promote_types(w.dtype, torch.float32))
    reduced = [dim for dim in range(x.dim()) if dim != axis]

    if symmetric:
        scale = x.abs().amax(reduced, keepdim=True) / 127  # 1 in every reduced dimension
    else:
        low = x.amin(reduced, keepdim=True).clamp(max=0)
        high = x.amax(reduced, keepdim=True).clamp(min=0)
        scale = (high - low) / 255
    scale = torch.where(scale == 0, torch.ones_like(scale), scale)
    zero = torch.zeros_like(scale) if symmetric else (-128 - low / scale).round()

    q = ((x / scale).round() + zero).clamp(-127 if symmetric else -128, 127)  # the shape of w
    return q.to(torch.int8), scale, zero.to(torch.int32)


def dequantize(q: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
    return (q.to(scale.dtype) - zero) * scale
