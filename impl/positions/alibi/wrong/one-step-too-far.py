"""Counts the query's own key as distance 1.
query 自己的 key 距离算成了 1。

symptom: A constant for each row: softmax does not see it, but the table is another one.
症状：每行差一个常数，softmax 看不出来，但表不对。

cards: pos-19
rung: solved
"""

import torch


def slopes(n_heads):
    P = 2 ** (n_heads.bit_length() - 1)
    first = [2 ** (-8 * i / P) for i in range(1, P + 1)]
    return torch.tensor(first + [2 ** (-4 * (2 * j - 1) / P) for j in range(1, n_heads - P + 1)])


def alibi_bias(n_heads, T, S):
    distance = torch.arange(S - T + 1, S + 1)[:, None] - torch.arange(S)
    return -slopes(n_heads)[:, None, None] * distance
