"""Multiplies the next value by λ as well.
下一个价值也乘了 λ。

symptom: The critic is trusted less than it says.
症状：critic 的价值被打了折。

cards: align-03
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


@torch.no_grad()
def gae(
    rewards: Tensor, values: Tensor, dones: Tensor, last_value: Tensor, gamma: float, lam: float
) -> tuple[Tensor, Tensor]:
    wide = torch.promote_types(rewards.dtype, torch.float32)
    r, v, following = rewards.to(wide), values.to(wide), last_value.to(wide)  # (B, T), (B, T), (B,)
    goes_on = 1 - dones.to(wide)  # (B, T)

    advantage, found = torch.zeros_like(following), []
    for t in range(r.shape[1] - 1, -1, -1):
        delta = r[:, t] + gamma * lam * goes_on[:, t] * following - v[:, t]  # (B,)
        advantage = delta + gamma * lam * goes_on[:, t] * advantage
        following = v[:, t]
        found.append(advantage)

    adv = torch.stack(found[::-1], dim=1)  # (B, T)
    return adv.to(rewards.dtype), (adv + v).to(rewards.dtype)
