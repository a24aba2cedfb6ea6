"""Rescales by exp(m_new − m_old).
缩放因子写成了 exp(m_new − m_old)。

symptom: l explodes as soon as the maximum rises.
症状：最大值一变大，l 就爆炸。

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
        l = total if m is None else l * (shift - m).exp() + total
        m = new
    return m.to(chunk.dtype), l.to(chunk.dtype)
