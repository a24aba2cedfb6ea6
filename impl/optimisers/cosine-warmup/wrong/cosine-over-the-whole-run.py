"""Runs the cosine over all steps, the warm-up included.
余弦从第 0 步算起，把预热也算进去。

symptom: The rate jumps down where the warm-up ends.
症状：预热一结束，学习率突然下跳。

cards: opt-14
rung: solved
"""

import math


def lr_at(step, base_lr, warmup, total, min_lr=0.0):
    if step < warmup:
        return base_lr * (step + 1) / warmup
    progress = min(1.0, step / total)
    return min_lr + 0.5 * (base_lr - min_lr) * (1 + math.cos(math.pi * progress))
