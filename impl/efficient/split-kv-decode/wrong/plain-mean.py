"""Averages the partial outputs.
把各段输出直接取平均。

symptom: A split of three keys counts as much as one of three thousand.
症状：三个 key 的一段和三千个 key 的一段一样重。

cards: flash-08
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
    out = o.mean(0).masked_fill(empty[..., None], 0.0)
    lse = (top + total.log()).masked_fill(empty, float("-inf"))
    return out.to(outs.dtype), lse.to(lses.dtype)
