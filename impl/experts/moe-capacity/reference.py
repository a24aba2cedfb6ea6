"""Capacity: every expert has a buffer of the same length; choices that come when it is full are dropped.

Decisions:
- capacity = ⌈factor · N · k / E⌉: there are N·k choices, and at factor 1 an even load just fits;
- first come, first served in token-major order: all k choices of token 0, then those of token 1;
- a choice's slot is the number of earlier choices of the same expert; running counts give it without a loop;
- a dropped choice has slot −1, which is not a valid place.

Lepikhin et al. 2020 (GShard), arXiv 2006.16668, section 2.2; Fedus et al. 2021, arXiv 2101.03961, section 2.2.
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
    return place.masked_fill(~keep, -1), keep
