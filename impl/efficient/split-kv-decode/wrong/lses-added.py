"""Adds the lses up.
把 lse 直接相加。

symptom: The product of the sums, not their sum.
症状：那是各段之和的乘积，不是总和。

cards: flash-02
rung: solved
"""

import torch


def merge_partials(outs, lses):
    wide = torch.promote_types(torch.promote_types(outs.dtype, lses.dtype), torch.float32)
    o, s = outs.to(wide), lses.to(wide)
    top = s.amax(0)
    top = top.masked_fill(top.isneginf(), 0.0).detach()
    weights = (s - top).exp()
    total = weights.sum(0)
    empty = total == 0
    total = total.masked_fill(empty, 1.0)
    out = (weights[..., None] * o).sum(0) / total[..., None]
    lse = s.sum(0).masked_fill(empty, float("-inf"))
    return out.to(outs.dtype), lse.to(lses.dtype)
