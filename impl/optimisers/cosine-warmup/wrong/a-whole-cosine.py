"""Runs through a whole period of the cosine.
走了余弦的一整个周期。

symptom: The rate is lowest in the middle and ends at the peak.
症状：中间最低，结束时又回到峰值。

cards: opt-14
rung: solved
"""

import math


def lr_at(step, base_lr, warmup, total, min_lr=0.0):
    if step < warmup:
        return base_lr * (step + 1) / warmup
    progress = min(1.0, (step - warmup) / (total - warmup))
    return min_lr + 0.5 * (base_lr - min_lr) * (1 + math.cos(2 * math.pi * progress))
