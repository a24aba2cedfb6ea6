"""Keeps distances in float16.
距离用 float16 存。

symptom: Beyond 2048 tokens neighbours share a bias.
症状：超过 2048 个 token，相邻 key 的偏置相同。

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
    return -slopes(n_heads)[:, None, None] * distance.half()
