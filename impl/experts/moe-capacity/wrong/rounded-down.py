"""Rounds the capacity down.
容量向下取整。

symptom: At factor 1 an even load may not fit; a capacity of 0 drops all.
症状：系数为 1 时均匀负载也可能放不下；容量为 0 就全丢。

cards: moe-15
rung: solved
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def dispatch_with_capacity(idx: Tensor, E: int, capacity_factor: float) -> tuple[Tensor, Tensor]:
    capacity = math.floor(capacity_factor * idx.numel() / E)

    flat = idx.reshape(-1, 1)  # (N·k, 1), token-major
    chose = flat == torch.arange(E, device=idx.device)  # (N·k, E)
    place = (chose.cumsum(dim=0) - 1).gather(1, flat).reshape(idx.shape)  # (N, k), place in the expert's queue

    keep = place < capacity  # (N, k)
    return place.masked_fill(~keep, -1), keep
