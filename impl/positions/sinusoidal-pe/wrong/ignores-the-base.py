"""Writes 10000 for the base.
base 写死成 10000。

symptom: Right only with the default.
症状：只有默认值时才对。

cards: pos-03
rung: solved
"""

import torch


def sinusoidal_pe(T, D, base=10000.0, offset=0):
    position = torch.arange(offset, offset + T, dtype=torch.float64)
    speed = 10000.0 ** -(torch.arange(0, D, 2, dtype=torch.float64) / D)
    phase = position[:, None] * speed
    table = torch.zeros(T, D)
    table[:, 0::2] = torch.sin(phase)
    table[:, 1::2] = torch.cos(phase)[:, : D // 2]
    return table
