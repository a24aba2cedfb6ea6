"""NF4: sixteen levels at a Gaussian's quantiles, so that each 4-bit code is used about equally often.

Decisions:
- 8 positive and 7 negative quantiles and an exact 0, divided by the largest: from −1 to 1, not symmetric;
- a block of neighbours along the last dimension is divided by its absmax, so one of its numbers is at −1 or 1;
- every number goes to the nearest level: the boundaries are the midpoints between levels, not the levels;
- a block of zeros has absmax 0 and the code of 0, which is 7;
- two codes a byte, element 2j in the low half; absmax in float32 at least.

Dettmers et al. 2023, arXiv 2305.14314, Section 3 and appendix E.
"""

from __future__ import annotations

import torch
from torch import Tensor

OFFSET = 0.9677083  # the outermost probability, just inside 1, whose quantile would be infinite


def levels() -> Tensor:
    positive = torch.special.ndtri(torch.linspace(OFFSET, 0.5, 9, dtype=torch.float64)[:-1])
    negative = -torch.special.ndtri(torch.linspace(OFFSET, 0.5, 8, dtype=torch.float64)[:-1])
    zero = torch.zeros(1, dtype=torch.float64)
    return torch.cat([negative, zero, positive.flip(0)]) / positive[0]  # (16,), ascending


def nf4_quantize(w: Tensor, block: int = 64) -> tuple[Tensor, Tensor]:
    x = w.to(torch.promote_types(w.dtype, torch.float32))
    blocks = x.reshape(*x.shape[:-1], -1, block)  # (..., I/block, block)
    absmax = blocks.abs().amax(dim=-1)  # (..., I/block)

    divisor = torch.where(absmax == 0, torch.ones_like(absmax), absmax)
    normal = (blocks / divisor[..., None]).reshape(x.shape)  # (..., I), −1 … 1
    table = levels().to(device=w.device, dtype=x.dtype)
    boundaries = (table[1:] + table[:-1]) / 2  # (15,)
    codes = torch.bucketize(normal, boundaries)  # how many boundaries lie below: 0 … 15

    packed = codes[..., 0::2] | codes[..., 1::2] << 4  # (..., I/2)
    return packed.to(torch.uint8), absmax
