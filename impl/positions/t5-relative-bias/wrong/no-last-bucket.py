"""Does not stop at N − 1.
没有止于 N − 1。

symptom: Far offsets index beyond the table, or into the other side.
症状：远处的偏移超出表，或跑到另一侧去。

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
    far = e + term.long()
    return side + torch.where(n < e, n, far)
