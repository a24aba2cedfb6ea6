"""Adds noise below 2¹⁵.
噪声只有 15 位。

symptom: Nothing below half a step ever goes up: small updates are lost as before.
症状：不到半步的从不向上：小更新照样丢失。

cards: prec-06
rung: solved
"""

import torch


def stochastic_round_bf16(x, generator=None):
    noise = torch.randint(0, 2**15, x.shape, generator=generator, dtype=torch.int32, device=x.device)
    bits = (x.view(torch.int32) + noise) & -(2**16)
    return torch.where(x.isfinite(), bits.view(torch.float32), x)
