"""Lets torch.where pick between NaN and 0.
用 torch.where 在 NaN 和 0 之间选。

symptom: Values are right, gradients NaN: 0 · NaN comes back from the branch that was not taken.
症状：数值对，梯度是 NaN：没选中的分支传回 0 · NaN。

cards: mask-04, flash-02
rung: hardened
"""

import torch


def online_softmax_stats(chunks):
    m = l = None
    for chunk in chunks:
        x = chunk.to(torch.promote_types(chunk.dtype, torch.float32))
        top = x.amax(-1)
        new = top if m is None else torch.maximum(m, top)
        seen = new != float("-inf")
        total = torch.where(seen[..., None], (x - new[..., None]).exp(), 0.0).sum(-1)
        l = total if m is None else torch.where(seen, l * (m - new).exp(), 0.0) + total
        m = new
    return m.to(chunk.dtype), l.to(chunk.dtype)
