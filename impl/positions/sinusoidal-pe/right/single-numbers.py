"""One number after the other, with math.sin and math.cos."""

import math

import torch


def entry(position, column, D, base):
    phase = position / base ** ((column - column % 2) / D)
    return math.cos(phase) if column % 2 else math.sin(phase)


def sinusoidal_pe(T, D, base=10000.0, offset=0):
    rows = [[entry(p, column, D, base) for column in range(D)] for p in range(offset, offset + T)]
    return torch.tensor(rows, dtype=torch.float32)
