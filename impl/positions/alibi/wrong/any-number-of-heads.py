"""Uses 2^(−8i/H) for every H.
任何 H 都用 2^(−8i/H)。

symptom: Wrong where H is no power of two.
症状：H 不是 2 的幂时就错。

cards: pos-19
rung: solved
"""

import torch


def slopes(n_heads):
    P = n_heads
    first = [2 ** (-8 * i / P) for i in range(1, P + 1)]
    return torch.tensor(first + [2 ** (-4 * (2 * j - 1) / P) for j in range(1, n_heads - P + 1)])


def alibi_bias(n_heads, T, S):
    distance = torch.arange(S - T, S)[:, None] - torch.arange(S)
    return -slopes(n_heads)[:, None, None] * distance
