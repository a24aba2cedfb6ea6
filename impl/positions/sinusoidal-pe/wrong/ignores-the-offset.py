"""Starts at position 0 whatever the offset.
不管 offset，总从位置 0 开始。

symptom: With a cache every new token stands at position 0.
症状：带缓存解码时，每个新 token 都站在位置 0。

cards: pos-03
rung: solved
"""

import torch


def sinusoidal_pe(T, D, base=10000.0, offset=0):
    position = torch.arange(0, T, dtype=torch.float64)
    speed = base ** -(torch.arange(0, D, 2, dtype=torch.float64) / D)
    phase = position[:, None] * speed
    table = torch.zeros(T, D)
    table[:, 0::2] = torch.sin(phase)
    table[:, 1::2] = torch.cos(phase)[:, : D // 2]
    return table
