"""Adds noise of a fixed size relative to the number.
噪声按数值的固定比例加。

symptom: A step is 1/128 to 1/256 of a number. Just above a power of two noise spans half a step: less than that is lost.
症状：步长是数值的 1/128 到 1/256：刚过 2 的幂时噪声只有半步，不到半步的照样丢。

cards: prec-06
rung: solved
"""

import torch


def stochastic_round_bf16(x, generator=None):
    noise = torch.randint(0, 2**16, x.shape, generator=generator, dtype=torch.int32, device=x.device)
    exact = (x.view(torch.int32) & 65535) == 0
    moved = torch.where(exact, x, x + x * noise.float() / 2**24)
    bits = moved.view(torch.int32) & -(2**16)
    return torch.where(x.isfinite(), bits.view(torch.float32), x)
