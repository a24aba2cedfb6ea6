"""One head after the other, entry by entry."""

import torch


def slope(h, n_heads):
    P = 1 << (n_heads.bit_length() - 1)
    exponent = 8 * (h + 1) if h < P else 8 * (h - P) + 4
    return 2.0 ** (-exponent / P)


def alibi_bias(n_heads, T, S):
    out = torch.zeros(n_heads, T, S)
    for h in range(n_heads):
        for i in range(T):
            out[h, i] = slope(h, n_heads) * torch.arange(T - S - i, T - i, dtype=torch.float32)
    return out
