"""Counts slots from 1.
slot 从 1 开始数。

symptom: Slot 0 stays empty, the last one is out of bounds.
症状：0 号位空着，最后一个越界。

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
    return (place + 1).masked_fill(~keep, -1), keep
