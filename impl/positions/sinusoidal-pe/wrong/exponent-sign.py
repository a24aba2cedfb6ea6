"""Turns the sign of the exponent around.
指数的符号反了。

symptom: Speeds grow up to base: neighbours have unrelated phases.
症状：速度一路增大到 base：相邻位置的相位毫无关系。

cards: pos-03
rung: solved
"""

import torch


def sinusoidal_pe(T, D, base=10000.0, offset=0):
    position = torch.arange(offset, offset + T, dtype=torch.float64)
    speed = base ** (torch.arange(0, D, 2, dtype=torch.float64) / D)
    phase = position[:, None] * speed
    table = torch.zeros(T, D)
    table[:, 0::2] = torch.sin(phase)
    table[:, 1::2] = torch.cos(phase)[:, : D // 2]
    return table
