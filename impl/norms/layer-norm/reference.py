"""Layer normalisation: every token's features get mean 0 and variance 1, then a learned scale and shift.

Decisions:
- statistics are taken over the last dimension alone, one mean and one variance per token;
- the variance is the biased one (divided by D), and eps sits inside the root;
- two passes: first the mean, then the squares of the centred values. E[x²] − E[x]² needs one pass and loses every digit when
  the mean is large against the spread;
- float16 and bfloat16 are computed in float32, since squares overflow or round away there.

Ba et al. 2016, arXiv 1607.06450.
"""

from __future__ import annotations

import torch
from torch import Tensor


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float = 1e-5) -> Tensor:
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)

    centred = y - y.mean(dim=-1, keepdim=True)  # (..., D)
    variance = centred.square().mean(dim=-1, keepdim=True)  # (..., 1), biased
    normal = centred / (variance + eps).sqrt()  # (..., D)

    return (normal * gamma.to(wide) + beta.to(wide)).to(x.dtype)
