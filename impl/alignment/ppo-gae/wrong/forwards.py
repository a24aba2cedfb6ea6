"""Runs the recursion forwards.
递推方向反了。

symptom: A step gets credit for what came before it.
症状：把之前的功劳算到了后面。

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
        s = r.shape[1] - 1 - t
        after = v[:, s + 1] if s + 1 < r.shape[1] else last_value.to(wide)
        delta = r[:, s] + gamma * goes_on[:, s] * after - v[:, s]  # (B,)
        advantage = delta + gamma * lam * goes_on[:, s] * advantage
        following = v[:, t]
        found.append(advantage)

    adv = torch.stack(found, dim=1)  # (B, T)
    return adv.to(rewards.dtype), (adv + v).to(rewards.dtype)
