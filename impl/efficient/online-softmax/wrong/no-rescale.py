"""Keeps l as it is when the maximum rises.
最大值变大时没有缩小 l。

symptom: Early chunks count exp(m_new − m_old) times too much.
症状：前面的块被多算了 exp(m_new − m_old) 倍。

cards: flash-02
rung: solved
"""

import torch


def online_softmax_stats(chunks):
    m = l = None
    for chunk in chunks:
        x = chunk.to(torch.promote_types(chunk.dtype, torch.float32))
        top = x.amax(-1)
        new = top if m is None else torch.maximum(m, top)
        shift = new.masked_fill(new == float("-inf"), 0.0)
        total = (x - shift[..., None]).exp().sum(-1)
        l = total if m is None else l + total
        m = new
    return m.to(chunk.dtype), l.to(chunk.dtype)
