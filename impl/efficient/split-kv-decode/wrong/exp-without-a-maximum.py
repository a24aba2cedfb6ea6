"""Exponentiates the lses as they are.
直接对 lse 取 exp。

symptom: Overflows from 89 on; below −104 a query comes out empty.
症状：超过 89 就溢出；低于 −104 的 query 被当成空的。

cards: flash-02, att-24
rung: solved
"""

import torch


def merge_partials(outs, lses):
    wide = torch.promote_types(torch.promote_types(outs.dtype, lses.dtype), torch.float32)
    o, s = outs.to(wide), lses.to(wide)
    top = torch.zeros_like(s[0])
    top = top.masked_fill(top.isneginf(), 0.0).detach()
    weights = (s - top).exp()
    total = weights.sum(0)
    empty = total == 0
    total = total.masked_fill(empty, 1.0)
    out = (weights[..., None] * o).sum(0) / total[..., None]
    lse = (top + total.log()).masked_fill(empty, float("-inf"))
    return out.to(outs.dtype), lse.to(lses.dtype)
