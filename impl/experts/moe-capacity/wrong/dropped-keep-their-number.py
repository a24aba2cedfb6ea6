"""Leaves its number to what was dropped.
丢掉的选择还留着排队号。

symptom: A scatter by slot runs beyond the buffer.
症状：按 slot 写入会越界。

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

    keep = place < capacity  # (N, k)
    return place, keep
