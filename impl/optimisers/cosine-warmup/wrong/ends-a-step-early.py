"""Divides the decay by one step less.
衰减的步数少算了一步。

symptom: min_lr comes a step early; a single step of decay divides by 0.
症状：提前一步到 min_lr；只衰减一步时除以 0。

cards: opt-14
rung: solved
"""

import math


def lr_at(step, base_lr, warmup, total, min_lr=0.0):
    if step < warmup:
        return base_lr * (step + 1) / warmup
    progress = min(1.0, (step - warmup) / (total - warmup - 1))
    return min_lr + 0.5 * (base_lr - min_lr) * (1 + math.cos(math.pi * progress))
