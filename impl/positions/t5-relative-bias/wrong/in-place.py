"""Turns the caller's offsets into distances.
直接把调用者的偏移改成了距离。

symptom: The next layer gets distances for offsets.
症状：下一层拿到的是距离，不是偏移。

cards: pos-20
rung: solved
"""

import math

import torch


def t5_bucket(relative_position, bidirectional, num_buckets=32, max_distance=128):
    if bidirectional:
        N = num_buckets // 2
        side = (relative_position > 0).long() * N
        n = relative_position.abs_()
    else:
        N = num_buckets
        side = 0
        n = relative_position.neg_().clamp_(min=0)
    e = N // 2
    term = torch.log(n.clamp(min=1).float() / e) / math.log(max_distance / e) * (N - e)
    far = (e + term.long()).clamp(max=N - 1)
    return side + torch.where(n < e, n, far)
