"""Generalised advantage estimation: TD errors, summed backwards with the weight γλ, never across the end of an episode.

    δ_t = r_t + γ(1 − d_t)V_{t+1} − V_t,      A_t = δ_t + γλ(1 − d_t)A_{t+1}

Decisions:
- d_t = 1 means that the episode ended after step t: the next value and the next advantage belong to another episode;
- last_value follows the last step, for an episode that was cut off rather than ended;
- λ = 0 gives the TD error (little variance, much bias), λ = 1 the discounted return less the value;
- returns = A + V is the target of the critic;
- both are targets, so no gradient flows through them.

Schulman et al. 2015, arXiv 1506.02438, section 3.
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
        delta = r[:, t] + gamma * goes_on[:, t] * following - v[:, t]  # (B,)
        advantage = delta + gamma * lam * goes_on[:, t] * advantage
        following = v[:, t]
        found.append(advantage)

    adv = torch.stack(found[::-1], dim=1)  # (B, T)
    return adv.to(rewards.dtype), (adv + v).to(rewards.dtype)
