"""Hands the same cached table to every caller.
所有调用者拿到同一张缓存的表。

symptom: Who edits one table edits all.
症状：一处改了表，处处都变。

cards: mask-06
rung: hardened
"""

import functools

import torch


def slopes(n_heads):
    P = 2 ** (n_heads.bit_length() - 1)
    first = [2 ** (-8 * i / P) for i in range(1, P + 1)]
    return torch.tensor(first + [2 ** (-4 * (2 * j - 1) / P) for j in range(1, n_heads - P + 1)])


@functools.lru_cache(maxsize=None)
def alibi_bias(n_heads, T, S):
    distance = torch.arange(S - T, S)[:, None] - torch.arange(S)
    return -slopes(n_heads)[:, None, None] * distance
