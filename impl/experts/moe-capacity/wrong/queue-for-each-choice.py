"""Gives every choice a queue of its own.
第一选择、第二选择各排各的队。

symptom: Two choices get the same slot, an expert holds k times its capacity.
症状：两个选择分到同一个位置，专家装了 k 倍的容量。

cards: moe-15
rung: solved
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def dispatch_with_capacity(idx: Tensor, E: int, capacity_factor: float) -> tuple[Tensor, Tensor]:
    capacity = math.ceil(capacity_factor * idx.numel() / E)

    chose = idx[..., None] == torch.arange(E, device=idx.device)  # (N·k, E)
    place = (chose.cumsum(dim=0) - 1).gather(2, idx[..., None])[..., 0]  # (N, k), place in the expert's queue

    keep = place < capacity  # (N, k)
    return place.masked_fill(~keep, -1), keep
