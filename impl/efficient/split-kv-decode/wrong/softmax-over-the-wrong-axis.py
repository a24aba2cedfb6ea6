"""Normalises over the last axis of the lses instead of the splits.
沿 lse 的最后一维归一化，而不是沿各段。

symptom: Weights of one query depend on its neighbours.
症状：一个 query 的权重取决于旁边的 query。

cards: flash-08, att-05
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
    out = (torch.softmax(s, -1).nan_to_num(0.0)[..., None] * o).sum(0)
    lse = (top + total.log()).masked_fill(empty, float("-inf"))
    return out.to(outs.dtype), lse.to(lses.dtype)
