"""Negates dones, which must be bool.
对 dones 取反，因此必须是 bool。

symptom: ~ of a float raises, of an integer it is −1 or −2.
症状：float 取反报错，整数取反得 −1、−2。

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
    goes_on = (~dones).to(wide)  # (B, T)

    advantage, found = torch.zeros_like(following), []
    for t in range(r.shape[1] - 1, -1, -1):
        delta = r[:, t] + gamma * goes_on[:, t] * following - v[:, t]  # (B,)
        advantage = delta + gamma * lam * goes_on[:, t] * advantage
        following = v[:, t]
        found.append(advantage)

    adv = torch.stack(found[::-1], dim=1)  # (B, T)
    return adv.to(rewards.dtype), (adv + v).to(rewards.dtype)
