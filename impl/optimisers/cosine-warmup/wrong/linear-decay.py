"""Decays linearly.
线性衰减。

symptom: Right at both ends and in the middle, up to 10.5 % of the peak off between.
症状：两端和正中间都对，其余位置最多差峰值的 10.5 %。

cards: opt-14
rung: solved
"""

import math


def lr_at(step, base_lr, warmup, total, min_lr=0.0):
    if step < warmup:
        return base_lr * (step + 1) / warmup
    progress = min(1.0, (step - warmup) / (total - warmup))
    return min_lr + (base_lr - min_lr) * (1 - progress)
