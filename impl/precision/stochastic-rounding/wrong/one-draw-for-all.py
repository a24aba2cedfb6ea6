"""Draws one number for the whole tensor.
整个张量只抽一个随机数。

symptom: All weights go up together: errors do not average out.
症状：所有权重一起向上：误差不会互相抵消。

cards: prec-06
rung: solved
"""

import torch


def stochastic_round_bf16(x, generator=None):
    noise = torch.randint(0, 2**16, (), generator=generator, dtype=torch.int32, device=x.device)
    bits = (x.view(torch.int32) + noise) & -(2**16)
    return torch.where(x.isfinite(), bits.view(torch.float32), x)
