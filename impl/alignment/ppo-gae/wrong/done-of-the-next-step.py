"""Takes d_{t+1} for d_t.
用了 d_{t+1} 而不是 d_t。

symptom: The cut is one step early: the last reward is lost.
症状：截断早了一步，最后的奖励丢了。

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
    ends = dones.to(wide)
    goes_on = 1 - torch.cat([ends[:, 1:], ends[:, -1:]], dim=1)

    advantage, found = torch.zeros_like(following), []
    for t in range(r.shape[1] - 1, -1, -1):
        delta = r[:, t] + gamma * goes_on[:, t] * following - v[:, t]  # (B,)
        advantage = delta + gamma * lam * goes_on[:, t] * advantage
        following = v[:, t]
        found.append(advantage)

    adv = torch.stack(found[::-1], dim=1)  # (B, T)
    return adv.to(rewards.dtype), (adv + v).to(rewards.dtype)
