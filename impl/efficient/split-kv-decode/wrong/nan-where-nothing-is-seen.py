"""Subtracts −inf where all splits are empty.
各段全空时减去了 −inf。

symptom: One padded row gives NaN.
症状：一个 padding 行就是 NaN。

cards: flash-08, att-24
rung: hardened
"""

import torch


def merge_partials(outs, lses):
    wide = torch.promote_types(torch.promote_types(outs.dtype, lses.dtype), torch.float32)
    o, s = outs.to(wide), lses.to(wide)
    top = s.amax(0)
    weights = (s - top).exp()
    total = weights.sum(0)
    empty = top.isneginf()
    total = total
    out = (weights[..., None] * o).sum(0) / total[..., None]
    lse = (top + total.log()).masked_fill(empty, float("-inf"))
    return out.to(outs.dtype), lse.to(lses.dtype)
