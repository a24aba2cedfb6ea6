"""Puts the cosine into the even column.
余弦放到了偶数列。

symptom: Every pair is swapped.
症状：每一对都反了。

cards: pos-03
rung: solved
"""

import torch


def sinusoidal_pe(T, D, base=10000.0, offset=0):
    position = torch.arange(offset, offset + T, dtype=torch.float64)
    phase = position[:, None] * base ** -(torch.arange(0, D, 2, dtype=torch.float64) / D)
    table = torch.zeros(T, D)
    table[:, 0::2] = torch.cos(phase)
    table[:, 1::2] = torch.sin(phase)[:, : D // 2]
    return table
