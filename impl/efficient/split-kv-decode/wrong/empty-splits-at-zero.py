"""Takes an empty split for one with lse 0.
把空段当成 lse 为 0。

symptom: Its arbitrary output leaks into the result.
症状：空段里的任意数混进了结果。

cards: flash-08
rung: solved
"""

import torch


def merge_partials(outs, lses):
    wide = torch.promote_types(torch.promote_types(outs.dtype, lses.dtype), torch.float32)
    o, s = outs.to(wide), lses.to(wide)
    s = s.masked_fill(s.isneginf(), 0.0)
    top = s.amax(0)
    top = top.masked_fill(top.isneginf(), 0.0).detach()
    weights = (s - top).exp()
    total = weights.sum(0)
    empty = total == 0
    total = total.masked_fill(empty, 1.0)
    out = (weights[..., None] * o).sum(0) / total[..., None]
    lse = (top + total.log()).masked_fill(empty, float("-inf"))
    return out.to(outs.dtype), lse.to(lses.dtype)
