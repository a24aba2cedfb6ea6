"""Adds min_lr to a cosine of the full amplitude.
余弦的幅度用了 base_lr，又加上 min_lr。

symptom: The peak is base_lr + min_lr: 10 % too high with the usual min_lr.
症状：峰值成了 base_lr + min_lr，按常用的 min_lr 高出 10 %。

cards: opt-14
rung: solved
"""

import math


def lr_at(step, base_lr, warmup, total, min_lr=0.0):
    if step < warmup:
        return base_lr * (step + 1) / warmup
    progress = min(1.0, (step - warmup) / (total - warmup))
    return min_lr + 0.5 * base_lr * (1 + math.cos(math.pi * progress))
