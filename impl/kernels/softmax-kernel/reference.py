"""Softmax over the last dimension: the kernel's result, in plain torch.

The kernel's own decisions:
- the maximum of a row is subtracted first, so that no exponential overflows; a row of nothing but −inf gives zeros;
- a row longer than a block is walked through twice: once for its maximum and its sum together, once to write;
- lanes behind the end of a row are loaded as −inf, whose exponential is 0;
- float16 is computed in float32 and rounded once.

Bytes: 2·rows·n·itemsize where a row fits one block, 3·rows·n·itemsize beyond. Operations: about 5·rows·n, one exp an element
and pass. Milakov and Gimelshein 2018, arXiv 1805.02867.
"""

from __future__ import annotations

import torch
from torch import Tensor


def softmax(x: Tensor) -> Tensor:
    wide = x.to(torch.promote_types(x.dtype, torch.float32))

    peak = wide.amax(-1, keepdim=True)  # (..., 1)
    peak = peak.masked_fill(peak == float("-inf"), 0.0)  # −inf − (−inf) would be NaN

    weights = (wide - peak).exp()  # (..., n), each in [0, 1]
    total = weights.sum(-1, keepdim=True)  # (..., 1), at least 1, or 0 for a row of −inf
    total = total.masked_fill(total == 0.0, 1.0)

    return (weights / total).to(x.dtype)
