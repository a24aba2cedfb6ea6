"""Adds +m·distance.
加的是 +m·距离。

symptom: The farther a key, the more it counts.
症状：key 越远权重越大。

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
    return slopes(n_heads)[:, None, None] * distance
