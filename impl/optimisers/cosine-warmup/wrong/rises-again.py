"""Does not hold the rate beyond the end.
到头之后没有保持住。

symptom: A run that goes on climbs back to the peak.
症状：继续训练时，学习率又升回峰值。

cards: opt-14
rung: solved
"""

import math


def lr_at(step, base_lr, warmup, total, min_lr=0.0):
    if step < warmup:
        return base_lr * (step + 1) / warmup
    progress = (step - warmup) / (total - warmup)
    return min_lr + 0.5 * (base_lr - min_lr) * (1 + math.cos(math.pi * progress))
