"""Detaches the maximum.
把最大值 detach 了。

symptom: Values are right; m has no gradient, and l's lacks the part through m.
症状：数值都对；m 没有梯度，l 的梯度缺了经过 m 的部分。

cards: flash-02
rung: solved
"""

import torch


def online_softmax_stats(chunks):
    m = l = None
    for chunk in chunks:
        x = chunk.to(torch.promote_types(chunk.dtype, torch.float32))
        top = x.detach().amax(-1)
        new = top if m is None else torch.maximum(m, top)
        shift = new.masked_fill(new == float("-inf"), 0.0)
        total = (x - shift[..., None]).exp().sum(-1)
        l = total if m is None else l * (m - shift).exp() + total
        m = new
    return m.to(chunk.dtype), l.to(chunk.dtype)
