"""Softmax along one dimension that survives every input an attention layer can produce.

Softmax does not change when a constant is added to the whole slice, so the maximum is subtracted first: the largest
exponent is then exp(0) = 1 and nothing overflows. Decisions:
- float16 and bfloat16 are computed in float32 and cast back at the end; float32 and float64 keep their dtype;
- an entry of −inf gets exactly 0;
- a slice of −inf only has no distribution: it becomes zeros, with zero gradients.
The maximum is a constant for the gradient, because the result does not depend on it.
"""

from __future__ import annotations

import torch
from torch import Tensor


def softmax(x: Tensor, dim: int = -1) -> Tensor:
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x

    peak = wide.detach().amax(dim, keepdim=True)  # (..., 1, ...)
    peak = peak.masked_fill(peak == float("-inf"), 0.0)  # −inf − (−inf) would be NaN

    weights = (wide - peak).exp()  # (..., n, ...), each in [0, 1], exp(−inf) = 0
    total = weights.sum(dim, keepdim=True)  # (..., 1, ...), at least 1, or 0 for an empty slice
    total = total.masked_fill(total == 0.0, 1.0)

    return (weights / total).to(x.dtype)
