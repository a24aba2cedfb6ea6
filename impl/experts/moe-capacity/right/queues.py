"""A counter for each expert, one choice after the other."""

import math

import torch


def dispatch_with_capacity(idx, E, capacity_factor):
    N, k = idx.shape
    capacity = math.ceil(capacity_factor * N * k / E)
    if idx.device.type == "meta":
        return torch.empty_like(idx), torch.empty_like(idx, dtype=torch.bool)
    used = [0] * E
    slots = []
    for row in idx.tolist():
        for expert in row:
            slots.append(used[expert] if used[expert] < capacity else -1)
            used[expert] += 1
    slot = torch.tensor(slots, dtype=torch.int64, device=idx.device).reshape(N, k)
    return slot, slot >= 0
