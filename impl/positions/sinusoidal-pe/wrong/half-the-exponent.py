"""Uses the exponent i/D where 2i/D belongs.
指数用 i/D，而不是 2i/D。

symptom: The slowest hand turns about √base times too fast.
症状：最慢的表针快了约 √base 倍。

cards: pos-03
rung: solved
"""

import torch


def sinusoidal_pe(T, D, base=10000.0, offset=0):
    position = torch.arange(offset, offset + T, dtype=torch.float64)
    speed = base ** -(torch.arange((D + 1) // 2, dtype=torch.float64) / D)
    phase = position[:, None] * speed
    table = torch.zeros(T, D)
    table[:, 0::2] = torch.sin(phase)
    table[:, 1::2] = torch.cos(phase)[:, : D // 2]
    return table
