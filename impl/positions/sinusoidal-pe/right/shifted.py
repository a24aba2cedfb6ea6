"""The table from position 0 on, shifted by the linear map that belongs to the offset."""

import torch


def sinusoidal_pe(T, D, base=10000.0, offset=0):
    speed = base ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    phase = torch.arange(T, dtype=torch.float64)[:, None] * speed
    sin, cos = phase.sin(), phase.cos()
    by_sin, by_cos = torch.sin(offset * speed), torch.cos(offset * speed)
    turned = torch.stack((sin * by_cos + cos * by_sin, cos * by_cos - sin * by_sin), dim=-1)
    return turned.reshape(T, -1)[:, :D].float().clone()
