"""Returns the largest lse instead of their log-sum.
返回最大的 lse，而不是合并后的。

symptom: Two equal halves merge to an lse too low by log 2; the next merge is wrong.
症状：两个相等的半段合并后少了 log 2，再往上合并就错了。

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
    out = (weights[..., None] * o).sum(0) / total[..., None]
    lse = top.clone().masked_fill(empty, float("-inf"))
    return out.to(outs.dtype), lse.to(lses.dtype)
