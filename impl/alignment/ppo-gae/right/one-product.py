"""A_t = Σ_s w(t, s)·δ_s with w the product of γλ(1 − d) from t to s − 1: one triangular matrix for each row."""

import torch


def gae(rewards, values, dones, last_value, gamma, lam):
    r, v, end = (part.detach() for part in (rewards, values, last_value))
    wide = torch.promote_types(r.dtype, torch.float32)
    r, v, end, on = r.to(wide), v.to(wide), end.to(wide), 1.0 - dones.to(wide)
    T = r.shape[1]
    following = torch.cat([v[:, 1:], end[:, None]], dim=1)
    delta = r + gamma * on * following - v
    weights = torch.zeros(r.shape[0], T, T, dtype=wide, device=r.device)
    row = torch.zeros_like(weights[:, 0])
    for t in range(T - 1, -1, -1):
        row = gamma * lam * on[:, t : t + 1] * row
        row = torch.where(torch.arange(T, device=r.device) == t, torch.ones_like(row), row)
        weights[:, t] = row
    adv = (weights @ delta[..., None])[..., 0]
    return adv.to(rewards.dtype), (adv + v).to(rewards.dtype)
