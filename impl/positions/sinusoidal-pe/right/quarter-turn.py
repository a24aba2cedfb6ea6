"""Odd columns are sines a quarter turn ahead."""

import math

import torch


def sinusoidal_pe(T, D, base=10000.0, offset=0):
    column = torch.arange(D)
    speed = torch.pow(torch.tensor(base, dtype=torch.float64), -2.0 * (column // 2).double() / D)
    position = torch.arange(offset, offset + T, dtype=torch.float64).unsqueeze(1)
    return torch.sin(position * speed + (column % 2) * (math.pi / 2)).to(torch.float32)
