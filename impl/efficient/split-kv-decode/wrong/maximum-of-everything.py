"""Subtracts one maximum for all queries.
所有 query 减同一个最大值。

symptom: Queries whose lses lie 104 lower come out empty.
症状：lse 低 104 以上的 query 会被当成空的。

cards: flash-02
rung: solved
"""

import torch


def merge_partials(outs, lses):
    wide = torch.promote_types(torch.promote_types(outs.dtype, lses.dtype), torch.float32)
    o, s = outs.to(wide), lses.to(wide)
    top = s.amax().expand(s.shape[1:])
    top = top.masked_fill(top.isneginf(), 0.0).detach()
    weights = (s - top).exp()
    total = weights.sum(0)
    empty = total == 0
    total = total.masked_fill(empty, 1.0)
    out = (weights[..., None] * o).sum(0) / total[..., None]
    lse = (top + total.log()).masked_fill(empty, float("-inf"))
    return out.to(outs.dtype), lse.to(lses.dtype)
