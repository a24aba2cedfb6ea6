"""Does not split the buckets by side.
桶没有按两侧分开。

symptom: Before and after cannot be told apart.
症状：分不出前后。

cards: pos-20
rung: solved
"""

import math

import torch


def t5_bucket(relative_position, bidirectional, num_buckets=32, max_distance=128):
    if bidirectional:
        N = num_buckets
        side = 0
        n = relative_position.abs()
    else:
        N = num_buckets
        side = 0
        n = (-relative_position).clamp(min=0)
    e = N // 2
    term = torch.log(n.clamp(min=1).float() / e) / math.log(max_distance / e) * (N - e)
    far = (e + term.long()).clamp(max=N - 1)
    return side + torch.where(n < e, n, far)
