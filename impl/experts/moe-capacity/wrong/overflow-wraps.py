"""Wraps around where the buffer is full.
缓冲区满了又从头排。

symptom: Late tokens overwrite early ones.
症状：后来的 token 覆盖先来的。

cards: moe-15
rung: solved
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def dispatch_with_capacity(idx: Tensor, E: int, capacity_factor: float) -> tuple[Tensor, Tensor]:
    capacity = math.ceil(capacity_factor * idx.numel() / E)

    flat = idx.reshape(-1, 1)  # (N·k, 1), token-major
    chose = flat == torch.arange(E, device=idx.device)  # (N·k, E)
    place = (chose.cumsum(dim=0) - 1).gather(1, flat).reshape(idx.shape)  # (N, k), place in the expert's queue

    keep = place < capacity
    return place % capacity, keep
