"""Counts how many buckets begin no later than each distance."""

import math

import torch


def t5_bucket(relative_position, bidirectional, num_buckets=32, max_distance=128):
    halves = 2 if bidirectional else 1
    N = num_buckets // halves
    e = N // 2
    n = (relative_position.abs() if bidirectional else torch.relu(-relative_position)).unsqueeze(-1)
    near = torch.arange(1, e + 1, device=n.device)
    steps = torch.arange(1, N - e, device=n.device, dtype=torch.float64)
    far = e * torch.exp(steps / (N - e) * math.log(max_distance / e))
    bucket = (n >= near).sum(-1) + (n.double() + 1e-6 >= far).sum(-1)
    return bucket + (relative_position > 0).long() * (num_buckets - N)
