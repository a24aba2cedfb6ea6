"""Divides the warm-up by warmup + 1.
预热除以 warmup + 1。

symptom: The last step of the warm-up has not the full rate.
症状：预热最后一步还没到最大值。

cards: opt-09
rung: solved
"""

import math


def lr_at(step, base_lr, warmup, total, min_lr=0.0):
    if step < warmup:
        return base_lr * (step + 1) / (warmup + 1)
    progress = min(1.0, (step - warmup) / (total - warmup))
    return min_lr + 0.5 * (base_lr - min_lr) * (1 + math.cos(math.pi * progress))
