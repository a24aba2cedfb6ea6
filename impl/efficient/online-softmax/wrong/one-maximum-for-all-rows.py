"""Takes one maximum for all rows.
所有行共用一个最大值。

symptom: Rows that lie far below underflow to l = 0.
症状：比它低很多的行，l 下溢成 0。

cards: att-24
rung: solved
"""

import torch


def online_softmax_stats(chunks):
    m = l = None
    for chunk in chunks:
        x = chunk.to(torch.promote_types(chunk.dtype, torch.float32))
        top = x.amax().expand(x.shape[:-1])
        new = top if m is None else torch.maximum(m, top)
        shift = new.masked_fill(new == float("-inf"), 0.0)
        total = (x - shift[..., None]).exp().sum(-1)
        l = total if m is None else l * (m - shift).exp() + total
        m = new
    return m.to(chunk.dtype), l.to(chunk.dtype)
