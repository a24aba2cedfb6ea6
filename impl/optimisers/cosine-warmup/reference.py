"""A learning rate that rises linearly to its peak and then falls along half a cosine.

Decisions:
- the rise takes `warmup` steps and begins above 0: step 0 already trains, step warmup − 1 has the full rate;
- the cosine runs over the remaining steps, from base_lr at step `warmup` to min_lr at step `total`, and only then;
- beyond `total` the rate stays at min_lr: a cosine that is not clamped would rise again;
- min_lr is where the curve ends, not a floor that cuts it off.

Loshchilov and Hutter 2016, arXiv 1608.03983, equation 5; warm-up as in Goyal et al. 2017, arXiv 1706.02677.
"""

from __future__ import annotations

import math


def lr_at(step: int, base_lr: float, warmup: int, total: int, min_lr: float = 0.0) -> float:
    if step < warmup:
        return base_lr * (step + 1) / warmup

    progress = min(1.0, (step - warmup) / (total - warmup))  # 0 … 1
    return min_lr + 0.5 * (base_lr - min_lr) * (1 + math.cos(math.pi * progress))
