"""Rounds where it should take the floor.
应当向下取整，却四舍五入。

symptom: Buckets begin half a step too early.
症状：每个桶早开始半步。

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
    term = torch.log(n.clamp(min=1).float() / e) / math.log(max_distance / e) * (N - e)
    far = (e + term.round().long()).clamp(max=N - 1)
    return side + torch.where(n < e, n, far)
