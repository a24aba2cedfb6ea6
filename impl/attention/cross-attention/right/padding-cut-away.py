"""Cuts the padding off every memory before anything is computed."""

import math

import torch


def attend(x, memory, wq, wk, wv, wo, n_heads):
    (T, D), S = x.shape, memory.shape[0]
    d = D // n_heads
    q = (x @ wq).reshape(T, n_heads, d).movedim(1, 0)
    k = (memory @ wk).reshape(S, n_heads, d).movedim(1, 0)
    v = (memory @ wv).reshape(S, n_heads, d).movedim(1, 0)
    weights = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(d), dim=-1)
    return (weights @ v).movedim(0, 1).reshape(T, D) @ wo


def cross_attention(x, memory, wq, wk, wv, wo, n_heads, memory_mask=None):
    dtype = x.dtype
    if dtype.itemsize == 2:
        x, memory, wq, wk, wv, wo = (t.float() for t in (x, memory, wq, wk, wv, wo))
    rows = []
    for b in range(x.shape[0]):
        seen = memory[b] if memory_mask is None else memory[b][memory_mask[b]]
        rows.append(attend(x[b], seen, wq, wk, wv, wo, n_heads))
    return torch.stack(rows).to(dtype)
