"""RMSNorm: every token's features are divided by their root mean square, then scaled by a learned weight.

Decisions:
- no mean is subtracted: the scale has to be stabilised, and the mean is only one direction among D;
- the mean of squares is taken over the last dimension alone, and eps sits inside the root;
- float16 and bfloat16 are normalised in float32, since squares overflow or round away, and cast back before the weight,
  as Llama does it.

Zhang and Sennrich 2019, arXiv 1910.07467.
"""

from __future__ import annotations

import torch
from torch import Tensor


def rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    y = x.to(torch.promote_types(x.dtype, torch.float32))

    mean_square = y.square().mean(dim=-1, keepdim=True)  # (..., 1)
    normal = y / (mean_square + eps).sqrt()  # (..., D)

    return normal.to(x.dtype) * weight
