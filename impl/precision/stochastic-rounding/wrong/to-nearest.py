"""Rounds to nearest.
就近舍入。

symptom: Updates below half a step are lost, every time.
症状：不到半步的更新每次都丢。

cards: prec-05
rung: solved
"""

import torch


def stochastic_round_bf16(x, generator=None):
    noise = 32768
    bits = (x.view(torch.int32) + noise) & -(2**16)
    return torch.where(x.isfinite(), bits.view(torch.float32), x)
