"""Counts positions in bfloat16.
位置用 bfloat16 表示。

symptom: From 256 on neighbours share a row.
症状：从 256 起，相邻位置的行相同。

cards: pos-24
rung: solved
"""

import torch


def sinusoidal_pe(T, D, base=10000.0, offset=0):
    position = torch.arange(offset, offset + T).bfloat16().double()
    speed = base ** -(torch.arange(0, D, 2, dtype=torch.float64) / D)
    phase = position[:, None] * speed
    table = torch.zeros(T, D)
    table[:, 0::2] = torch.sin(phase)
    table[:, 1::2] = torch.cos(phase)[:, : D // 2]
    return table
