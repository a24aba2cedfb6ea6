"""One score after another, from m = −inf and l = 0."""

import torch


def online_softmax_stats(chunks):
    walk = iter(chunks)
    first = next(walk)
    dtype, wide = first.dtype, torch.promote_types(first.dtype, torch.float32)
    m = torch.full(first.shape[:-1], float("-inf"), dtype=wide, device=first.device)
    l = torch.zeros_like(m)
    chunk = first
    while chunk is not None:
        for column in chunk.to(wide).unbind(-1):
            above = torch.maximum(m, column)
            base = above.masked_fill(torch.isneginf(above), 0.0)
            m, l = above, l * torch.exp(m - base) + torch.exp(column - base)
        chunk = next(walk, None)
    return m.to(dtype), l.to(dtype)
