"""Clipping by the global norm: all gradients together form one vector, which is shortened without changing its direction.

Decisions:
- one L2 norm over all tensors: the root of the sum of all squares;
- the factor max_norm/(total + 1e-6) is used only below 1: short gradients stay as they are;
- squares are summed in float32 at least, since 300² is beyond float16;
- if the norm is inf or NaN, the factor would be 0 or NaN: gradients are returned unchanged, and the caller skips the step;
- new tensors are returned, the inputs are not changed.

Pascanu et al. 2012, arXiv 1211.5063, Section 3.2.
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def clip_grad_norm(grads: list[Tensor], max_norm: float) -> tuple[list[Tensor], Tensor]:
    wide = torch.float32
    for g in grads:
        wide = torch.promote_types(wide, g.dtype)

    squares = [g.to(wide).square().sum() for g in grads]  # one number a tensor
    total = torch.stack(squares).sum().sqrt()  # ()

    factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
    factor = torch.where(total.isfinite(), factor, torch.ones_like(factor))
    return [(g.to(wide) * factor).to(g.dtype) for g in grads], total
