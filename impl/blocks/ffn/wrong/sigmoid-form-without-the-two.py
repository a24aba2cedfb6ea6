"""Writes the tanh form as z·σ(u), where it is z·σ(2u).
tanh 形式写成 z·σ(u)，应为 z·σ(2u)。

symptom: The activation bends half as sharply: 0.70 instead of 0.84 at z = 1.
症状：拐弯平缓一半：z = 1 处是 0.70，应为 0.84。

cards: ffn-05
rung: solved
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
        h = z * torch.sigmoid(math.sqrt(2.0 / math.pi) * (z + 0.044715 * z**3))

    return (h @ w2 + b2).to(dtype)  # (..., D)
