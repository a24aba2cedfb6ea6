"""The first distance of every bucket, and a search among them."""

import math

import torch


def t5_bucket(relative_position, bidirectional, num_buckets=32, max_distance=128):
    N = num_buckets // 2 if bidirectional else num_buckets
    e = N // 2
    growth = (max_distance / e) ** (1 / (N - e))
    starts = [*range(1, e + 1), *(math.ceil(e * growth**k - 1e-9) for k in range(1, N - e))]
    edges = torch.tensor(starts, device=relative_position.device)
    if not bidirectional:
        return torch.bucketize(relative_position.clamp(max=0).neg(), edges, right=True)
    bucket = torch.bucketize(relative_position.abs(), edges, right=True)
    return torch.where(relative_position > 0, bucket + N, bucket)
