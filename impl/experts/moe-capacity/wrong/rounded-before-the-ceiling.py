"""Multiplies by a share k/E that is rounded already, so that whole capacities come out one too large.
先算 k/E，已经有舍入误差，本该是整数的容量多出 1。

symptom: 6 tokens, 2 of 5 experts, factor 1.25: four places instead of three.
症状：6 个 token，5 选 2，系数 1.25：容量成了 4，本该是 3。

cards: moe-15
rung: hardened
"""

import math

import torch


def dispatch_with_capacity(idx, E, capacity_factor):
    N, k = idx.shape
    capacity = math.ceil((k / E) * N * capacity_factor)
    flat = idx.reshape(-1)
    chose = torch.zeros(N * k, E, dtype=torch.long, device=idx.device)
    chose[torch.arange(N * k, device=idx.device), flat] = 1
    place = ((chose.cumsum(0) - 1) * chose).sum(1).reshape(N, k)
    keep = place < capacity
    return torch.where(keep, place, torch.full_like(place, -1)), keep
