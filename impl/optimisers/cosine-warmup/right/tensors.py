"""The two branches as tensors in float64, chosen by torch.where."""

import torch


def lr_at(step, base_lr, warmup, total, min_lr=0.0):
    at = torch.tensor(step, dtype=torch.float64)
    rise = base_lr * (at + 1) / max(warmup, 1)
    x = ((at - warmup) / (total - warmup)).clamp(0, 1)
    fall = min_lr + (base_lr - min_lr) * (1 + torch.cos(torch.pi * x)) / 2
    return float(torch.where(at < warmup, rise, fall))
