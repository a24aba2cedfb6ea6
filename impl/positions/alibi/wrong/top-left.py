"""Puts query i at position i.
query i 放在位置 i。

symptom: With a cache the new token is nearest to the first key.
症状：带缓存时，新 token 离第一个 key 最近。

cards: mask-08
rung: solved
"""

import torch


def slopes(n_heads):
    P = 2 ** (n_heads.bit_length() - 1)
    first = [2 ** (-8 * i / P) for i in range(1, P + 1)]
    return torch.tensor(first + [2 ** (-4 * (2 * j - 1) / P) for j in range(1, n_heads - P + 1)])


def alibi_bias(n_heads, T, S):
    distance = torch.arange(T)[:, None] - torch.arange(S)
    return -slopes(n_heads)[:, None, None] * distance
