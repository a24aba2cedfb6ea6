"""A table over all distances up to max_distance, looked up."""

import math

import torch


def bucket(n, N, max_distance):
    e = N // 2
    if n < e:
        return n
    return min(N - 1, e + int((N - e) * math.log(n / e) / math.log(max_distance / e)))


def t5_bucket(relative_position, bidirectional, num_buckets=32, max_distance=128):
    N = num_buckets // (2 if bidirectional else 1)
    table = torch.tensor([bucket(n, N, max_distance) for n in range(max_distance + 1)], device=relative_position.device)
    later = relative_position > 0
    n = torch.where(later, relative_position * int(bidirectional), -relative_position)
    return table[n.clamp(max=max_distance)] + later * (N * int(bidirectional))
