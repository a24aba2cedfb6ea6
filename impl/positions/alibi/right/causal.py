"""Later keys are hidden at once, rows are windows of one line."""

import torch


def alibi_bias(n_heads, T, S):
    power = 1
    while power * 2 <= n_heads:
        power *= 2
    exponent = torch.cat([torch.arange(1, power + 1) * 8.0, torch.arange(n_heads - power) * 8.0 + 4.0])
    slope = torch.exp2(-exponent / power)
    line = torch.cat([torch.arange(-S + 1.0, 1.0), torch.full((T,), float("-inf"))])
    rows = torch.stack([line[T - 1 - i : T - 1 - i + S] for i in range(T)])
    return slope.view(-1, 1, 1) * rows
