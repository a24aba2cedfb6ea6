"""By λ-returns: R_t = r_t + γ(1 − d_t)·((1 − λ)V_{t+1} + λR_{t+1}); the advantage is what they exceed V by."""

import torch


@torch.no_grad()
def gae(rewards, values, dones, last_value, gamma, lam):
    kind = rewards.dtype
    up = torch.float64  # R − V cancels
    r, v, d, tail = rewards.to(up), values.to(up), dones.to(up), last_value.to(up)
    outs = []
    R = tail
    for t in range(r.size(1) - 1, -1, -1):
        nxt = tail if t == r.size(1) - 1 else v[:, t + 1]
        R = r[:, t] + gamma * (1 - d[:, t]) * ((1 - lam) * nxt + lam * R)
        outs.insert(0, R)
    R = torch.stack(outs, 1)
    return (R - v).to(kind), R.to(kind)
