"""A linear layer with its bias and tanh-GELU: the kernel's result, in plain torch.

The kernel's own decisions:
- a program computes one tile of the result: it walks along K and adds up products of tiles of x and w in float32;
- bias and GELU act on the finished tile, in registers, before it is stored: the product never lies in memory;
- M, N and K are no multiples of the tiles: loads behind K count as 0, rows and columns behind M and N are not stored;
- tanh is written by the logistic function, which saturates in both tails: ½·(1 + tanh u) = σ(2u).

Bytes: itemsize·(M·K·⌈N/BLOCK_N⌉ + K·N·⌈M/BLOCK_M⌉ + M·N). Operations: 2·M·N·K and about 10·M·N. Hendrycks and Gimpel 2016,
arXiv 1606.08415.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def linear_gelu(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    wide = torch.promote_types(x.dtype, torch.float32)
    z = x.to(wide) @ w.to(wide) + b.to(wide)  # (M, N)
    u = math.sqrt(2.0 / math.pi) * (z + 0.044715 * z**3)  # (M, N)
    return (0.5 * z * (1.0 + torch.tanh(u))).to(x.dtype)
