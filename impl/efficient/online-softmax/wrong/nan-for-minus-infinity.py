"""Subtracts a maximum of −inf.
减去了等于 −inf 的最大值。

symptom: NaN for good as soon as the first chunk of a row is hidden.
症状：某行第一块全被屏蔽，之后就一直是 NaN。

cards: flash-02, mask-04
rung: hardened
"""

import torch


def online_softmax_stats(chunks):
    m = l = None
    for chunk in chunks:
        x = chunk.to(torch.promote_types(chunk.dtype, torch.float32))
        top = x.amax(-1)
        new = top if m is None else torch.maximum(m, top)
        shift = new
        total = (x - shift[..., None]).exp().sum(-1)
        l = total if m is None else l * (m - shift).exp() + total
        m = new
    return m.to(chunk.dtype), l.to(chunk.dtype)
