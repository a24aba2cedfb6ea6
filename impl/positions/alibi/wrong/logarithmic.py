"""Takes the logarithm of the distance.
距离取了对数。

symptom: Far keys are hardly lowered: it is no window.
症状：远处的 key 几乎没降，不成其为窗口。

cards: pos-19
rung: solved
"""

import torch


def slopes(n_heads):
    P = 2 ** (n_heads.bit_length() - 1)
    first = [2 ** (-8 * i / P) for i in range(1, P + 1)]
    return torch.tensor(first + [2 ** (-4 * (2 * j - 1) / P) for j in range(1, n_heads - P + 1)])


def alibi_bias(n_heads, T, S):
    distance = torch.arange(S - T, S)[:, None] - torch.arange(S)
    distance = distance.clamp(min=0).float().log1p()
    return -slopes(n_heads)[:, None, None] * distance
