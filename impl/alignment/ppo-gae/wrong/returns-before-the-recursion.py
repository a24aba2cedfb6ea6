"""Forms the returns before the recursion has filled the advantages.
advantage 还没递推出来，就先算了 returns。

symptom: Returns equal the values: the critic is trained towards itself and never learns.
症状：returns 就等于 V：critic 拿自己当目标，什么也学不到。

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

    adv = torch.zeros_like(r)  # (B, T)
    returns = adv + v
    advantage = torch.zeros_like(following)
    for t in range(r.shape[1] - 1, -1, -1):
        delta = r[:, t] + gamma * goes_on[:, t] * following - v[:, t]  # (B,)
        advantage = delta + gamma * lam * goes_on[:, t] * advantage
        following = v[:, t]
        adv[:, t] = advantage

    return adv.to(rewards.dtype), returns.to(rewards.dtype)
