"""Computes 16-bit inputs in 16 bits.
16 位输入直接用 16 位计算。

symptom: Long sums stop growing.
症状：长的累加停在半路。

cards: prec-07
rung: hardened
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def gae(
    rewards: Tensor, values: Tensor, dones: Tensor, last_value: Tensor, gamma: float, lam: float
) -> tuple[Tensor, Tensor]:
    wide = rewards.dtype
    r, v, following = rewards.to(wide), values.to(wide), last_value.to(wide)  # (B, T), (B, T), (B,)
    goes_on = 1 - dones.to(wide)  # (B, T)

    advantage, found = torch.zeros_like(following), []
    for t in range(r.shape[1] - 1, -1, -1):
        delta = r[:, t] + gamma * goes_on[:, t] * following - v[:, t]  # (B,)
        advantage = delta + gamma * lam * goes_on[:, t] * advantage
        following = v[:, t]
        found.append(advantage)

    adv = torch.stack(found[::-1], dim=1)  # (B, T)
    return adv.to(rewards.dtype), (adv + v).to(rewards.dtype)
