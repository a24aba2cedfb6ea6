"""Leaves k out of the capacity.
容量里漏了 k。

symptom: At k = 2 and factor 1 about half of all choices are dropped, or more.
症状：k = 2、系数为 1 时，大约一半甚至更多的选择会丢。

cards: moe-15
rung: solved
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def dispatch_with_capacity(idx: Tensor, E: int, capacity_factor: float) -> tuple[Tensor, Tensor]:
    capacity = math.ceil(capacity_factor * len(idx) / E)

    flat = idx.reshape(-1, 1)  # (N·k, 1), token-major
    chose = flat == torch.arange(E, device=idx.device)  # (N·k, E)
    place = (chose.cumsum(dim=0) - 1).gather(1, flat).reshape(idx.shape)  # (N, k), place in the expert's queue

    keep = place < capacity  # (N, k)
    return place.masked_fill(~keep, -1), keep
