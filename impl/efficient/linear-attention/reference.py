"""Linear attention: replace exp(q·k) by φ(q)·φ(k), and the sum over keys no longer depends on the query.

    softmax:  y_i = Σ_j exp(q_i·k_j) v_j / Σ_j exp(q_i·k_j)          T² scores
    linear:   y_i = φ(q_i)·(Σ_j φ(k_j) v_jᵀ) / (φ(q_i)·Σ_j φ(k_j))    one sum for all queries

The sums S = Σ φ(k) vᵀ and z = Σ φ(k) are the whole state: a causal layer is a recurrent network.
Decisions:
- 1e-6 is added to the denominator, because φ(k) may be 0 for every key;
- the causal form walks over the tokens; sums are written before they are read, so a token sees itself;
- φ is applied in float32 to 16-bit inputs; everything else is float32 there, too.

Katharopoulos et al. 2020, arXiv 2006.16236.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

EPS = 1e-6
State = tuple[Tensor, Tensor]


def elu_plus_one(x: Tensor) -> Tensor:
    return F.elu(x) + 1


def linear_attention(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, feature: Callable[[Tensor], Tensor] = elu_plus_one
) -> Tensor:
    q_map, k_map, values = feature(widened(q)), feature(widened(k)), widened(v)  # (B, H, T, m), same, (B, H, T, dv)
    if not causal:
        S = k_map.transpose(-2, -1) @ values  # (B, H, m, dv)
        z = k_map.sum(dim=-2)  # (B, H, m)
        return read(q_map, S, z).to(q.dtype)  # (B, H, T, dv)

    S = values.new_zeros(*k_map.shape[:2], k_map.shape[-1], values.shape[-1])  # (B, H, m, dv)
    z = values.new_zeros(*k_map.shape[:2], k_map.shape[-1])  # (B, H, m)
    rows = []
    for t in range(q.shape[2]):
        S = S + k_map[:, :, t, :, None] * values[:, :, t, None, :]  # (B, H, m, dv)
        z = z + k_map[:, :, t]  # (B, H, m)
        rows.append(read(q_map[:, :, t, None], S, z))  # (B, H, 1, dv)
    return torch.cat(rows, dim=2).to(q.dtype)


def linear_attention_step(state: State, q_t: Tensor, k_t: Tensor, v_t: Tensor) -> tuple[Tensor, State]:
    q_map, k_map = elu_plus_one(widened(q_t)), elu_plus_one(widened(k_t))  # (B, H, d)
    S = widened(state[0]) + k_map[..., :, None] * widened(v_t)[..., None, :]  # (B, H, d, dv)
    z = widened(state[1]) + k_map  # (B, H, d)
    y = read(q_map[:, :, None], S, z)[:, :, 0]  # (B, H, dv)
    return y.to(q_t.dtype), (S.to(state[0].dtype), z.to(state[1].dtype))


def read(q_map: Tensor, S: Tensor, z: Tensor) -> Tensor:
    """What queries (B, H, n, m) find in the sums S (B, H, m, dv) and z (B, H, m)."""
    return q_map @ S / (q_map @ z[..., None] + EPS)


def widened(x: Tensor) -> Tensor:
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
