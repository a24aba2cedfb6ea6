"""Statistics of each chunk by itself, merged pairwise."""

import torch


def of_one(x):
    m = torch.max(x, dim=-1).values
    base = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    return m, torch.sum(torch.exp(x - base.unsqueeze(-1)), dim=-1)


def merged(a, b):
    m = torch.maximum(a[0], b[0])
    base = torch.where(torch.isinf(m), torch.zeros_like(m), m)
    return m, a[1] * torch.exp(a[0] - base) + b[1] * torch.exp(b[0] - base)


def online_softmax_stats(chunks):
    state, dtype = None, None
    for chunk in chunks:
        dtype = chunk.dtype
        wide = chunk.double() if dtype == torch.float64 else chunk.float()
        state = of_one(wide) if state is None else merged(state, of_one(wide))
    return state[0].to(dtype), state[1].to(dtype)
