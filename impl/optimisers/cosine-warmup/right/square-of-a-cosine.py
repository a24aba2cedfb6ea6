"""(1 + cos πx)/2 = cos²(πx/2), blended between the two rates."""

import math


def lr_at(step, base_lr, warmup, total, min_lr=0.0):
    if warmup > step:
        return (step + 1) / warmup * base_lr
    left = max(total - step, 0) / (total - warmup)
    share = math.sin(0.5 * math.pi * left) ** 2
    return share * base_lr + (1 - share) * min_lr
