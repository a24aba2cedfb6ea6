"""Mamba's selective scan: a small linear recurrence for each channel, whose step, input and output follow the token.

    h_t = exp(Δ_t A) h_{t−1} + Δ_t B_t x_t,    y_t = C_t · h_t,    Δ_t = softplus(dt_t)

A channel has N states that decay at their own rates A < 0. A large Δ forgets and takes the token in, a small one keeps the
state and skips the token: that is the selection. Decisions:
- the decay is discretised exactly (zero-order hold), the input by Euler, Δ·B, as in Mamba's code;
- the state starts at zero, is written before it is read, and there is no skip connection D·x;
- one state (B, D, N) is carried along; all of them together, (B, T, D, N), are never made;
- float16 and bfloat16 are computed in float32.

Gu & Dao 2023, arXiv 2312.00752, §3.2.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def ssm_scan(x: Tensor, dt: Tensor, A: Tensor, Bm: Tensor, C: Tensor) -> Tensor:
    wide = torch.promote_types(x.dtype, torch.float32)
    inputs, steps, rates = x.to(wide), F.softplus(dt.to(wide)), A.to(wide)  # (B, T, D), (B, T, D), (D, N)
    writes, reads = Bm.to(wide), C.to(wide)  # (B, T, N) each
    h = inputs.new_zeros(x.shape[0], *A.shape)  # (B, D, N)
    rows = []
    for t in range(x.shape[1]):
        step = steps[:, t, :, None]  # (B, D, 1)
        h = torch.exp(step * rates) * h + step * inputs[:, t, :, None] * writes[:, t, None]
        rows.append((h * reads[:, t, None]).sum(dim=-1))  # (B, D)
    return torch.stack(rows, dim=1).to(x.dtype)
