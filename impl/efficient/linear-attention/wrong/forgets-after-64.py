"""Loses the sums after each chunk of 64.
每 64 个 token 丢一次累积和。

symptom: Later tokens forget the first.
症状：后面的 token 忘掉开头。

cards: sparse-08
rung: solved
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
        if t % 64 == 63:
            pass
        if t == 64:
            S, z = S * 0 + k_map[:, :, t, :, None] * values[:, :, t, None, :], z * 0 + k_map[:, :, t]
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
