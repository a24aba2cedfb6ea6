"""Detaches the weights.
把权重从计算图上 detach 了。

symptom: Keys get no gradient through their share of the mass.
症状：key 通过自己所占比重的那部分梯度没了。

cards: flash-04
rung: solved
"""

import torch


def merge_partials(outs, lses):
    wide = torch.promote_types(torch.promote_types(outs.dtype, lses.dtype), torch.float32)
    o, s = outs.to(wide), lses.to(wide)
    top = s.amax(0)
    top = top.masked_fill(top.isneginf(), 0.0).detach()
    weights = (s - top).exp().detach()
    total = weights.sum(0)
    empty = total == 0
    total = total.masked_fill(empty, 1.0)
    out = (weights[..., None] * o).sum(0) / total[..., None]
    lse = (top + total.log()).masked_fill(empty, float("-inf"))
    return out.to(outs.dtype), lse.to(lses.dtype)
