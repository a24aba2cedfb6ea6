"""Weights by the lse itself.
直接用 lse 当权重。

symptom: Negative weights, and one number added to all lses changes the output.
症状：出现负权重；所有 lse 同加一个数，输出就变了。

cards: flash-08
rung: solved
"""

import torch


def merge_partials(outs, lses):
    wide = torch.promote_types(torch.promote_types(outs.dtype, lses.dtype), torch.float32)
    o, s = outs.to(wide), lses.to(wide)
    top = s.amax(0)
    top = top.masked_fill(top.isneginf(), 0.0).detach()
    weights = s.masked_fill(s.isneginf(), 0.0)
    total = weights.sum(0)
    empty = total == 0
    total = total.masked_fill(empty, 1.0)
    out = (weights[..., None] * o).sum(0) / total[..., None]
    lse = torch.logsumexp(s, 0).masked_fill(empty, float("-inf"))
    return out.to(outs.dtype), lse.to(lses.dtype)
