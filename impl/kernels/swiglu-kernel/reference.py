"""The gate of SwiGLU, silu(gate)·up: the kernel's result, in plain torch.

The kernel's own decisions:
- gate and up are read where they are: halves of one projection lie 2F apart from row to row, and a copy would move as many bytes
  again as the kernel itself;
- the place of an element is row · (stride of the rows) + column · (stride of the columns), for gate, up and result apart;
- silu(z) = z·σ(z) with σ(z) = 1/(1 + exp(−z)): far below 0 the exponential is inf and the quotient 0, never NaN;
- float16 is computed in float32 and rounded once.

Bytes: 3·rows·F·itemsize. Operations: about 6·rows·F, one of them exp. Shazeer 2020, arXiv 2002.05202.
"""

from __future__ import annotations

import torch
from torch import Tensor


def swiglu_gate(gate: Tensor, up: Tensor) -> Tensor:
    wide = torch.promote_types(gate.dtype, torch.float32)
    z = gate.to(wide)  # (..., F)
    return (z * torch.sigmoid(z) * up.to(wide)).to(gate.dtype)
