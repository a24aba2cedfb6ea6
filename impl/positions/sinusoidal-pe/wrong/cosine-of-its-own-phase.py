"""Gives the cosine the exponent (2i+1)/D.
余弦的指数用了 (2i+1)/D。

symptom: A shift is no rotation of a pair any more.
症状：平移不再是每一对的旋转。

cards: pos-04
rung: solved
"""

import torch


def sinusoidal_pe(T, D, base=10000.0, offset=0):
    position = torch.arange(offset, offset + T, dtype=torch.float64)
    speed = base ** -(torch.arange(0, D, 2, dtype=torch.float64) / D)
    phase = position[:, None] * speed
    table = torch.zeros(T, D)
    table[:, 0::2] = torch.sin(phase)
    table[:, 1::2] = torch.cos(position[:, None] * base ** -(torch.arange(1, D, 2, dtype=torch.float64) / D))
    return table
