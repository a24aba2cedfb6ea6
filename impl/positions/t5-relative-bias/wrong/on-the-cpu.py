"""Writes the buckets into a tensor on the default device.
桶号写进了默认设备上的张量。

symptom: Fails on the GPU: tensors on two devices.
症状：在 GPU 上报设备不一致。

cards: mask-06
rung: hardened
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
    bucket = torch.zeros(n.shape, dtype=torch.long)
    return bucket + side + torch.where(n < e, n, far)
