"""The delta rule: a linear-attention state that replaces what a key meant instead of adding to it.

    S_t = S_{t−1} (I − β_t k_t k_tᵀ) + β_t v_t k_tᵀ = S_{t−1} + β_t (v_t − S_{t−1} k_t) k_tᵀ,    y_t = S_t q_t

In the second form: look up what the state answers to k, and correct it towards v by β of the difference. That is one step
of gradient descent on ½ ‖S k − v‖² with learning rate β. Decisions:
- the state is written before it is read, so a token sees itself;
- no scale and no normalisation: the caller normalises keys; unit keys with β = 1 replace a value exactly;
- the state is (dv, d), a matrix from keys to values; it starts at S0 or zero, and a new one is returned;
- a loop over tokens: nothing of size T × T is made; float16 and bfloat16 are computed in float32.

Schlag et al. 2021, arXiv 2102.11174; Yang et al. 2024, arXiv 2406.06484.
"""

from __future__ import annotations

import torch
from torch import Tensor


def delta_rule(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, S0: Tensor | None = None) -> tuple[Tensor, Tensor]:
    B, H, T, d = q.shape
    wide = torch.promote_types(q.dtype, torch.float32)
    queries, keys, values, rates = (x.to(wide) for x in (q, k, v, beta))
    S = queries.new_zeros(B, H, v.shape[-1], d) if S0 is None else S0.to(wide)  # (B, H, dv, d)
    rows = []
    for t in range(T):
        key = keys[:, :, t, :, None]  # (B, H, d, 1)
        error = values[:, :, t, :, None] - S @ key  # (B, H, dv, 1)
        S = S + rates[:, :, t, None, None] * error @ key.transpose(-2, -1)
        rows.append((S @ queries[:, :, t, :, None]).squeeze(-1))  # (B, H, dv)
    return torch.stack(rows, dim=2).to(q.dtype), S.to(q.dtype)
