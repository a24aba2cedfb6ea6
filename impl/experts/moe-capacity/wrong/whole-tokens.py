"""Drops a token as soon as one of its choices is dropped.
有一个选择放不下，就把整个 token 丢掉。

symptom: Places that were free stay empty.
症状：本来空着的位置也没用上。

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

    keep = (place < capacity).all(dim=1, keepdim=True).expand(idx.shape).clone()
    return place.masked_fill(~keep, -1), keep
