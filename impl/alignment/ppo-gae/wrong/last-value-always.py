"""Adds last_value even where the last step ended the episode.
最后一步已经结束，还加上 last_value。

symptom: The value of a state that does not exist.
症状：加上了并不存在的状态的价值。

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

    goes_on_value = goes_on.clone()
    goes_on_value[:, -1] = 1.0
    advantage, found = torch.zeros_like(following), []
    for t in range(r.shape[1] - 1, -1, -1):
        delta = r[:, t] + gamma * goes_on_value[:, t] * following - v[:, t]  # (B,)
        advantage = delta + gamma * lam * goes_on[:, t] * advantage
        following = v[:, t]
        found.append(advantage)

    adv = torch.stack(found[::-1], dim=1)  # (B, T)
    return adv.to(rewards.dtype), (adv + v).to(rewards.dtype)
