"""Draws one number for each row.
每行只抽一个随机数。

symptom: The numbers of a row go up together.
症状：同一行的数一起向上。

cards: prec-06
rung: solved
"""

import torch


def stochastic_round_bf16(x, generator=None):
    shape = (*x.shape[:-1], 1) if x.dim() > 1 else x.shape
    noise = torch.randint(0, 2**16, shape, generator=generator, dtype=torch.int32, device=x.device)
    bits = (x.view(torch.int32) + noise) & -(2**16)
    return torch.where(x.isfinite(), bits.view(torch.float32), x)
