"""Divides by `warmup` even where it is 0.
`warmup` 为 0 时照样做除数。

symptom: ZeroDivisionError in runs without warm-up.
症状：没有预热的训练直接抛 ZeroDivisionError。

cards: opt-14
rung: solved
"""

import math


def lr_at(step, base_lr, warmup, total, min_lr=0.0):
    rise = base_lr * (step + 1) / warmup
    if step < warmup:
        return rise
    progress = min(1.0, (step - warmup) / (total - warmup))
    return min_lr + 0.5 * (base_lr - min_lr) * (1 + math.cos(math.pi * progress))
