"""Rotary position embedding with tables of cosines and sines: the kernel's result, in plain torch.

The kernel's own decisions:
- the two components of a pair, i and i + d/2, are turned by one program: both are loaded before either is stored;
- a row of the tables belongs to a token, not to a head or a batch item: its number is that of the token alone;
- d/2 is no power of two for many models (48, 40, 80): pairs are masked, and so are tokens where a program takes several;
- float16 is turned in float32 and rounded once.

Bytes: 2·B·H·T·d·itemsize, and T·d·itemsize of tables with each batch item or head that reads them anew. Operations: 3·B·H·T·d.
Su et al. 2021, arXiv 2104.09864.
"""

from __future__ import annotations

import torch
from torch import Tensor


def rope(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    wide = torch.promote_types(x.dtype, torch.float32)
    half = x.shape[-1] // 2
    a, b = x[..., :half].to(wide), x[..., half:].to(wide)  # (B, H, T, d/2) each
    c, s = cos.to(wide), sin.to(wide)  # (T, d/2) each
    return torch.cat((a * c - b * s, a * s + b * c), -1).to(x.dtype)  # (B, H, T, d)
