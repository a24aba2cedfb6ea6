"""Returns 0 beyond the end.
结束之后返回 0。

symptom: A run that goes on learns nothing.
症状：继续训练什么也学不到。

cards: opt-14
rung: solved
"""

import math


def lr_at(step, base_lr, warmup, total, min_lr=0.0):
    if step < warmup:
        return base_lr * (step + 1) / warmup
    if step > total:
        return 0.0
    progress = min(1.0, (step - warmup) / (total - warmup))
    return min_lr + 0.5 * (base_lr - min_lr) * (1 + math.cos(math.pi * progress))
