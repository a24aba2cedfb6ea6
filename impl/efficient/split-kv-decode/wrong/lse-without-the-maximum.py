"""Forgets to add the maximum back.
忘了把最大值加回去。

symptom: The output is right, the next merge is wrong.
症状：输出对，下一次合并就错。

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
    lse = total.log().masked_fill(empty, float("-inf"))
    return out.to(outs.dtype), lse.to(lses.dtype)
