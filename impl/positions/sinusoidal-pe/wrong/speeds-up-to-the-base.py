"""Spreads the speeds over D/2 − 1 steps, so that the slowest is 1/base.
速度按 D/2 − 1 步铺开，让最慢的恰好是 1/base。

symptom: A layout of other libraries: close for large D, wrong for small.
症状：别的库有这种写法：D 大时接近，D 小时明显不对。

cards: pos-03
rung: solved
"""

import torch


def sinusoidal_pe(T, D, base=10000.0, offset=0):
    position = torch.arange(offset, offset + T, dtype=torch.float64)
    speed = base ** -(torch.arange(0, D, 2, dtype=torch.float64) / max(D - 2, 1))
    phase = position[:, None] * speed
    table = torch.zeros(T, D)
    table[:, 0::2] = torch.sin(phase)
    table[:, 1::2] = torch.cos(phase)[:, : D // 2]
    return table
