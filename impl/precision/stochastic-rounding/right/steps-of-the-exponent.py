"""Counts in steps of the exponent, in float64: floor(|x|/step + u)."""

import torch


def stochastic_round_bf16(x, generator=None):
    size = x.double().abs()
    _, exponent = torch.frexp(size)
    step = torch.ldexp(torch.ones_like(size), (exponent - 8).clamp(min=-133))
    u = torch.rand(x.shape, generator=generator, dtype=torch.float64, device=x.device)
    rounded = torch.floor(size / step + u) * step
    rounded = torch.copysign(rounded, x.double()).to(torch.float32)
    return torch.where(torch.isfinite(x), rounded, x)
