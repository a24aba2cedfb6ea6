"""Cuts the cosine to 0 off at min_lr.
余弦降到 0，再用 min_lr 截住下限。

symptom: The curve lies too low all the way and has a corner near its end.
症状：整条曲线偏低，末尾还有一个折角。

cards: opt-14
rung: solved
"""

import math


def lr_at(step, base_lr, warmup, total, min_lr=0.0):
    if step < warmup:
        return base_lr * (step + 1) / warmup
    progress = min(1.0, (step - warmup) / (total - warmup))
    return max(min_lr, 0.5 * base_lr * (1 + math.cos(math.pi * progress)))
