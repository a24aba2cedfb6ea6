"""Takes the next larger power of two and cuts the list.
取了更大的 2 的幂，再截断。

symptom: Wrong where H is no power of two.
症状：H 不是 2 的幂时就错。

cards: pos-19
rung: solved
"""

import torch


def slopes(n_heads):
    P = 2 ** (n_heads - 1).bit_length()
    first = [2 ** (-8 * i / P) for i in range(1, P + 1)]
    return torch.tensor(first[:n_heads])


def alibi_bias(n_heads, T, S):
    distance = torch.arange(S - T, S)[:, None] - torch.arange(S)
    return -slopes(n_heads)[:, None, None] * distance
