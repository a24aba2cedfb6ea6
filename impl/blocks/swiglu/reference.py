"""SwiGLU: a feed-forward network whose hidden values are gated, and the width that keeps it at the plain one's size.

Decisions:
- silu acts on the gate alone; the up projection stays linear, and the two are multiplied element by element;
- no biases, weights act as x @ w on the last axis;
- float16 and bfloat16 are computed in float32 and rounded once, at the end;
- the width is computed in integers: 3·D·F = 8·D² gives F = 8D/3, rounded up to a multiple.

Shazeer 2020, arXiv 2002.05202.
"""

from __future__ import annotations

import torch
from torch import Tensor


def swiglu_ffn(x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor) -> Tensor:
    dtype = x.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x, w_gate, w_up, w_down = (t.float() for t in (x, w_gate, w_up, w_down))

    gate = x @ w_gate  # (..., F)
    up = x @ w_up  # (..., F)
    hidden = gate * torch.sigmoid(gate) * up  # (..., F)

    return (hidden @ w_down).to(dtype)  # (..., D)


def swiglu_hidden(D: int, multiple_of: int = 256) -> int:
    multiples = -(-8 * D // (3 * multiple_of))  # ⌈8D / 3m⌉
    return multiples * multiple_of
