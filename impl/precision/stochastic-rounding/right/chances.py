"""Both neighbours, and a uniform number against the fraction between them."""

import torch


def stochastic_round_bf16(x, generator=None):
    bits = x.view(torch.int32)
    low = bits & 0xFFFF
    down = bits - low
    chance = low.double() / 65536
    up = torch.rand(x.shape, generator=generator, dtype=torch.float64, device=x.device) < chance
    result = torch.where(up, down + 0x10000, down).view(torch.float32)
    return torch.where(x.isnan() | x.isinf(), x, result)
