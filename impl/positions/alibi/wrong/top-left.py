"""Puts query i at position i.
query i 放在位置 i。

symptom: With a cache each row is off by m·(S − T): softmax does not see it, but the table is another one, with biases above 0.
症状：带缓存时每行都差 m·(S − T)：softmax 看不出来，但表不对，还出现了正的偏置。

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
