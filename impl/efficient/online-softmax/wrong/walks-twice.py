"""Walks over the chunks twice, first for m, then for l.
遍历两遍：先求 m，再求 l。

symptom: An iterator is empty the second time: l is 0 or an error.
症状：迭代器第二遍是空的：l 为 0 或直接报错。

cards: flash-02
rung: solved
"""

import torch


def online_softmax_stats(chunks):
    m = None
    for chunk in chunks:
        top = chunk.to(torch.promote_types(chunk.dtype, torch.float32)).amax(-1)
        m = top if m is None else torch.maximum(m, top)
    l = torch.zeros_like(m)
    shift = m.masked_fill(m == float("-inf"), 0.0)
    for chunk in chunks:
        l = l + (chunk.to(m.dtype) - shift[..., None]).exp().sum(-1)
    return m.to(chunk.dtype), l.to(chunk.dtype)
