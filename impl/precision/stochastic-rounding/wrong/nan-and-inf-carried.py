"""Adds the noise to inf and NaN too.
inf 和 NaN 也加了噪声。

symptom: inf survives; a NaN with a small payload becomes inf, one whose payload is all ones becomes −0.
症状：inf 没事；payload 很小的 NaN 变成 inf，payload 全 1 的 NaN 变成 −0。

cards: prec-01
rung: solved
"""

import torch


def stochastic_round_bf16(x, generator=None):
    noise = torch.randint(0, 2**16, x.shape, generator=generator, dtype=torch.int32, device=x.device)
    bits = (x.view(torch.int32) + noise) & -(2**16)  # the carry runs on
    return bits.view(torch.float32)
