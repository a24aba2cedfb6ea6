"""Gives every distance below N a bucket of its own.
N 以内的距离各占一桶。

symptom: Offsets beyond N cannot be told apart.
症状：超过 N 的偏移分不开。

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
    far = (e + term.long()).clamp(max=N - 1)
    return side + n.clamp(max=N - 1)
