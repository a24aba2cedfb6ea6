"""Counts positions from 1.
位置从 1 数起。

symptom: Row 0 is not 0, 1, 0, 1, …
症状：第 0 行不是 0, 1, 0, 1, …

cards: pos-03
rung: solved
"""

import torch


def sinusoidal_pe(T, D, base=10000.0, offset=0):
    position = torch.arange(offset + 1, offset + T + 1, dtype=torch.float64)
    speed = base ** -(torch.arange(0, D, 2, dtype=torch.float64) / D)
    phase = position[:, None] * speed
    table = torch.zeros(T, D)
    table[:, 0::2] = torch.sin(phase)
    table[:, 1::2] = torch.cos(phase)[:, : D // 2]
    return table
