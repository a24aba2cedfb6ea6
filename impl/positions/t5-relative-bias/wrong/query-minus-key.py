"""Takes the offset for query − key.
把偏移当成 query − key。

symptom: In a causal decoder the whole past falls into bucket 0.
症状：因果 decoder 里，整个过去都落进第 0 桶。

cards: pos-20
rung: solved
"""

import math

import torch


def t5_bucket(relative_position, bidirectional, num_buckets=32, max_distance=128):
    relative_position = -relative_position
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
    return side + torch.where(n < e, n, far)
