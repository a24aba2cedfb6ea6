"""Lets step `warmup` belong to the warm-up.
第 `warmup` 步也算进了预热。

symptom: One step beyond the peak: 25 % too much after a warm-up of 4.
症状：有一步超过峰值：预热 4 步时高出 25 %。

cards: opt-09
rung: solved
"""

import math


def lr_at(step, base_lr, warmup, total, min_lr=0.0):
    if step <= warmup and warmup:
        return base_lr * (step + 1) / warmup
    progress = min(1.0, (step - warmup) / (total - warmup))
    return min_lr + 0.5 * (base_lr - min_lr) * (1 + math.cos(math.pi * progress))
