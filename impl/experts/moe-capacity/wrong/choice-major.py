"""Serves all first choices before any second one.
先满足所有第一选择，再轮到第二选择。

symptom: Other choices are dropped than asked for.
症状：丢掉的选择与要求的不同。

cards: moe-15
rung: solved
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def dispatch_with_capacity(idx: Tensor, E: int, capacity_factor: float) -> tuple[Tensor, Tensor]:
    capacity = math.ceil(capacity_factor * idx.numel() / E)

    flat = idx.T.reshape(-1, 1)  # (N·k, 1), token-major
    chose = flat == torch.arange(E, device=idx.device)  # (N·k, E)
    place = (chose.cumsum(dim=0) - 1).gather(1, flat).reshape(idx.shape[1], -1).T.contiguous()  # (N, k), place in the expert's queue

    keep = place < capacity  # (N, k)
    return place.masked_fill(~keep, -1), keep
