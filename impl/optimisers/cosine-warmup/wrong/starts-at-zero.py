"""Begins the warm-up at a rate of 0.
预热从学习率 0 开始。

symptom: The first step trains nothing, and the peak comes one step late.
症状：第一步白走，到达峰值也晚一步。

cards: opt-09
rung: solved
"""

import math


def lr_at(step, base_lr, warmup, total, min_lr=0.0):
    if step < warmup:
        return base_lr * step / warmup
    progress = min(1.0, (step - warmup) / (total - warmup))
    return min_lr + 0.5 * (base_lr - min_lr) * (1 + math.cos(math.pi * progress))
