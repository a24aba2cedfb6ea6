"""Points on the unit circle, read as pairs."""

import math

import torch


def sinusoidal_pe(T, D, base=10000.0, offset=0):
    pairs = (D + 1) // 2
    speed = torch.exp(torch.arange(pairs, dtype=torch.float64) * (-2.0 * math.log(base) / D))
    phase = torch.outer(torch.arange(T, dtype=torch.float64) + offset, speed)
    circle = torch.polar(torch.ones_like(phase), phase)
    cos_sin = torch.view_as_real(circle)
    return cos_sin.flip(-1).flatten(1)[:, :D].float().contiguous()
