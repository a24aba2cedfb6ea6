"""Begins the warm-up at min_lr.
预热从 min_lr 升起。

symptom: Right with min_lr = 0 alone.
症状：只有 min_lr = 0 时才对。

cards: opt-14
rung: solved
"""

import math


def lr_at(step, base_lr, warmup, total, min_lr=0.0):
    if step < warmup:
        return min_lr + (base_lr - min_lr) * (step + 1) / warmup
    progress = min(1.0, (step - warmup) / (total - warmup))
    return min_lr + 0.5 * (base_lr - min_lr) * (1 + math.cos(math.pi * progress))
