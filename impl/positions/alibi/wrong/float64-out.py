"""Returns float64.
返回 float64。

symptom: Added to float32 scores, it makes them float64.
症状：加到 float32 的分数上，分数就成了 float64。

cards: prec-07
rung: solved
"""

import torch


def slopes(n_heads):
    P = 2 ** (n_heads.bit_length() - 1)
    first = [2 ** (-8 * i / P) for i in range(1, P + 1)]
    return torch.tensor(first + [2 ** (-4 * (2 * j - 1) / P) for j in range(1, n_heads - P + 1)])


def alibi_bias(n_heads, T, S):
    distance = torch.arange(S - T, S)[:, None] - torch.arange(S)
    return -slopes(n_heads).double()[:, None, None] * distance
