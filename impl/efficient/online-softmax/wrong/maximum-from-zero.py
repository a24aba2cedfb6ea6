"""Starts the maximum from 0.
最大值从 0 开始。

symptom: Rows of negative scores report m = 0, and l underflows to 0 near −1000.
症状：分数全为负的行会报 m = 0；在 −1000 附近 l 下溢成 0。

cards: flash-02, att-24
rung: solved
"""

import torch


def online_softmax_stats(chunks):
    m = l = None
    for chunk in chunks:
        x = chunk.to(torch.promote_types(chunk.dtype, torch.float32))
        top = x.amax(-1)
        new = top.clamp(min=0.0) if m is None else torch.maximum(m, top)
        shift = new.masked_fill(new == float("-inf"), 0.0)
        total = (x - shift[..., None]).exp().sum(-1)
        l = total if m is None else l * (m - shift).exp() + total
        m = new
    return m.to(chunk.dtype), l.to(chunk.dtype)
