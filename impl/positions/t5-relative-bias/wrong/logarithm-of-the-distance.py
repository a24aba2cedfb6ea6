"""Forgets to divide n by e inside the logarithm.
对数里的 n 忘了除以 e。

symptom: Distances from e on jump to far too high a bucket.
症状：从 e 起，桶号一下跳得太高。

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
    term = torch.log(n.clamp(min=1).float()) / math.log(max_distance / e) * (N - e)
    far = (e + term.long()).clamp(max=N - 1)
    return side + torch.where(n < e, n, far)
