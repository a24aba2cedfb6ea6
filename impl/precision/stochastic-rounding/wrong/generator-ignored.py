"""Draws from torch's global generator always.
无视 generator，总用全局生成器。

symptom: A run cannot be repeated from its seed.
症状：同一个种子无法重现结果。

cards: prec-06
rung: solved
"""

import torch


def stochastic_round_bf16(x, generator=None):
    noise = torch.randint(0, 2**16, x.shape, dtype=torch.int32, device=x.device)
    bits = (x.view(torch.int32) + noise) & -(2**16)
    return torch.where(x.isfinite(), bits.view(torch.float32), x)
