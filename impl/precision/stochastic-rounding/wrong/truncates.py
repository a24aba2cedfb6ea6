"""Cuts the lower bits off.
直接截掉低位。

symptom: Magnitudes shrink by half a step on average.
症状：绝对值平均变小半步。

cards: prec-05
rung: solved
"""

import torch


def stochastic_round_bf16(x, generator=None):
    noise = 0
    bits = (x.view(torch.int32) + noise) & -(2**16)
    return torch.where(x.isfinite(), bits.view(torch.float32), x)
