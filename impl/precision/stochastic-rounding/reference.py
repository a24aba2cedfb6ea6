"""Stochastic rounding to bfloat16: up with a probability equal to the fraction of the step, so it is right on average.

Rounding to nearest always loses an update smaller than half a step of the weight; here it is kept sometimes, in proportion
to its size. Decisions:
- bfloat16 is the upper half of a float32, so the part cut off is the lower 16 bits, a fraction of 2¹⁶;
- a uniform 16-bit number is added below and the lower half is cut: it carries with exactly that probability;
- this works on the magnitude, so negative numbers are rounded alike, and a carry runs into the exponent by itself;
- inf and NaN are set aside: cut or carried, a NaN could become inf or a zero;
- every entry has its own draw.

Gupta et al. 2015, arXiv 1502.02551, Section 3.1.
"""

from __future__ import annotations

import torch
from torch import Tensor


def stochastic_round_bf16(x: Tensor, generator: torch.Generator | None = None) -> Tensor:
    noise = torch.randint(0, 2**16, x.shape, generator=generator, dtype=torch.int32, device=x.device)
    bits = (x.view(torch.int32) + noise) & -(2**16)  # the shape of x
    return torch.where(x.isfinite(), bits.view(torch.float32), x)
