"""Always goes away from 0.
总是向远离 0 的方向舍入。

symptom: Magnitudes grow by half a step on average.
症状：绝对值平均变大半步。

cards: prec-06
rung: solved
"""

import torch


def stochastic_round_bf16(x, generator=None):
    noise = 65535
    bits = (x.view(torch.int32) + noise) & -(2**16)
    return torch.where(x.isfinite(), bits.view(torch.float32), x)
