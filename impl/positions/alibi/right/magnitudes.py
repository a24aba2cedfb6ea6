"""The same penalty on both sides, slopes by recursion."""

import math

import torch


def slopes(n_heads):
    if math.log2(n_heads).is_integer():
        ratio = 2 ** (-8 / n_heads)
        return [ratio ** (k + 1) for k in range(n_heads)]
    below = 2 ** math.floor(math.log2(n_heads))
    return slopes(below) + slopes(2 * below)[0::2][: n_heads - below]


def alibi_bias(n_heads, T, S):
    query, key = torch.meshgrid(torch.arange(T) + (S - T), torch.arange(S), indexing="ij")
    apart = (query - key).abs().to(torch.float32)
    return torch.einsum("h,ts->hts", torch.tensor(slopes(n_heads)), apart).neg()
