"""Takes the newest chunk's maximum for the running one.
把最新一块的最大值当作滚动最大值。

symptom: m falls again, and l overflows in between.
症状：m 会变小，l 中途溢出。

cards: flash-02
rung: solved
"""

import torch


def online_softmax_stats(chunks):
    m = l = None
    for chunk in chunks:
        x = chunk.to(torch.promote_types(chunk.dtype, torch.float32))
        top = x.amax(-1)
        new = top if m is None else top
        shift = new.masked_fill(new == float("-inf"), 0.0)
        total = (x - shift[..., None]).exp().sum(-1)
        l = total if m is None else l * (m - shift).exp() + total
        m = new
    return m.to(chunk.dtype), l.to(chunk.dtype)
