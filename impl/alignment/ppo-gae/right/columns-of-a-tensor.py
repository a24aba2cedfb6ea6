"""Deltas at once, then a loop that fills a tensor."""

import torch


def gae(rewards, values, dones, last_value, gamma, lam):
    with torch.no_grad():
        wide = torch.float64 if rewards.dtype == torch.float64 else torch.float32
        T = rewards.shape[1]
        V = torch.cat([values, last_value.unsqueeze(1)], dim=1).to(wide)
        alive = (dones == 0).to(wide)
        delta = rewards.to(wide) + gamma * V[:, 1:] * alive - V[:, :-1]
        adv = torch.empty_like(delta)
        running = 0.0
        for t in reversed(range(T)):
            running = delta[:, t] + gamma * lam * alive[:, t] * running
            adv[:, t] = running
        returns = adv + V[:, :-1]
    return adv.to(rewards.dtype), returns.to(rewards.dtype)
