"""Begins with the same seed in every call.
每次调用都用同一个种子。

symptom: A weight that was rounded up is rounded up again: the errors add up.
症状：上次向上的这次还向上：误差不断累积。

cards: prec-06
rung: solved
"""

import torch


def stochastic_round_bf16(x, generator=None):
    generator = torch.Generator(device=x.device).manual_seed(0)
    noise = torch.randint(0, 2**16, x.shape, generator=generator, dtype=torch.int32, device=x.device)
    bits = (x.view(torch.int32) + noise) & -(2**16)
    return torch.where(x.isfinite(), bits.view(torch.float32), x)
