"""Returns float64.
返回 float64。

symptom: Added to float32 activations, it makes the whole model float64.
症状：加到 float32 的激活上，整个模型都变成 float64。

cards: prec-07
rung: solved
"""

import torch


def sinusoidal_pe(T, D, base=10000.0, offset=0):
    position = torch.arange(offset, offset + T, dtype=torch.float64)
    speed = base ** -(torch.arange(0, D, 2, dtype=torch.float64) / D)
    phase = position[:, None] * speed
    table = torch.zeros(T, D, dtype=torch.float64)
    table[:, 0::2] = torch.sin(phase)
    table[:, 1::2] = torch.cos(phase)[:, : D // 2]
    return table
