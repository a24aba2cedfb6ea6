"""Computes the phases in float32.
相位用 float32 计算。

symptom: Right on short texts; at position 10⁵ off by 4·10⁻³ for D = 64.
症状：短文本没问题；D = 64、位置 10⁵ 时差 4·10⁻³。

cards: pos-24
rung: hardened
"""

import torch


def sinusoidal_pe(T, D, base=10000.0, offset=0):
    position = torch.arange(offset, offset + T, dtype=torch.float32)
    speed = base ** -(torch.arange(0, D, 2, dtype=torch.float32) / D)
    phase = position[:, None] * speed
    table = torch.zeros(T, D)
    table[:, 0::2] = torch.sin(phase)
    table[:, 1::2] = torch.cos(phase)[:, : D // 2]
    return table
