"""Sorts all slopes.
把所有斜率排了序。

symptom: Heads of a checkpoint with 12 heads get other slopes.
症状：12 个头的检查点，各头的斜率对不上。

cards: pos-19
rung: solved
"""

import torch


def slopes(n_heads):
    P = 2 ** (n_heads.bit_length() - 1)
    first = [2 ** (-8 * i / P) for i in range(1, P + 1)]
    rest = [2 ** (-4 * (2 * j - 1) / P) for j in range(1, n_heads - P + 1)]
    return torch.tensor(sorted(first + rest, reverse=True))


def alibi_bias(n_heads, T, S):
    distance = torch.arange(S - T, S)[:, None] - torch.arange(S)
    return -slopes(n_heads)[:, None, None] * distance
