"""Layer normalisation over the last dimension: the kernel's result, in plain torch.

The kernel's own decisions:
- the mean is known before anything is squared, or mean and squares are merged block by block (Welford): E[x²] − E[x]² has no
  digit left where the mean is large;
- lanes beyond the end of a row count neither in the mean nor in the squares: loaded as 0 and centred they would be μ² each;
- mean and variance divide by D, not by the width of the block;
- float16 is computed in float32 and rounded once.

Bytes: 2·rows·D·itemsize where a row stays in registers, up to 4·rows·D·itemsize in blocks; besides weight and bias.
Operations: about 8·rows·D. Ba et al. 2016, arXiv 1607.06450.
"""

from __future__ import annotations

import torch
from torch import Tensor


def layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    wide = x.to(torch.promote_types(x.dtype, torch.float32))

    centred = wide - wide.mean(-1, keepdim=True)  # (..., D)
    variance = centred.square().mean(-1, keepdim=True)  # (..., 1), divided by D

    y = centred * torch.rsqrt(variance + eps) * weight.to(wide.dtype) + bias.to(wide.dtype)  # (..., D)
    return y.to(x.dtype)
