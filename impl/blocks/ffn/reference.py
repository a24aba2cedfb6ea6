"""The position-wise feed-forward network: widen, apply a nonlinearity, narrow, for every token by itself.

Decisions:
- weights act as x @ w on the last axis; all axes before it are batch axes;
- three activations: ReLU, GELU with the exact normal distribution, and GELU by its tanh approximation;
- float16 and bfloat16 are computed in float32 and rounded once, at the end.

Vaswani et al. 2017, arXiv 1706.03762, §3.3; Hendrycks and Gimpel 2016, arXiv 1606.08415.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor


def ffn(
    x: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor, act: Literal["relu", "gelu", "gelu_tanh"] = "relu"
) -> Tensor:
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, w1, b1, w2, b2 = (t.float() for t in (x, w1, b1, w2, b2))

    z = x @ w1 + b1  # (..., F)
    if act == "relu":
        h = torch.relu(z)
    elif act == "gelu":
        h = 0.5 * z * (1.0 + torch.erf(z / math.sqrt(2.0)))
    else:
        h = 0.5 * z * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (z + 0.044715 * z**3)))

    return (h @ w2 + b2).to(dtype)  # (..., D)
