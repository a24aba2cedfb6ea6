"""Divides by ln(max_distance), not by ln(max_distance/e).
除的是 ln(max_distance)，不是 ln(max_distance/e)。

symptom: The last buckets are reached far too late.
症状：最后几桶太晚才用到。

cards: pos-20
rung: solved
"""

import math

import torch


def t5_bucket(relative_position, bidirectional, num_buckets=32, max_distance=128):
    if bidirectional:
        N = num_buckets // 2
        side = (relative_position > 0).long() * N
        n = relative_position.abs()
    else:
        N = num_buckets
        side = 0
        n = (-relative_position).clamp(min=0)
    e = N // 2
    term = torch.log(n.clamp(min=1).float() / e) / math.log(max_distance) * (N - e)
    far = (e + term.long()).clamp(max=N - 1)
    return side + torch.where(n < e, n, far)
