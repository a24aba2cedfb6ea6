"""Computes the weights in the dtype of outs.
权重按 outs 的 dtype 计算。

symptom: bf16 weights do not add up to 1.
症状：bf16 的权重加起来不是 1。

cards: prec-07
rung: hardened
"""

import torch


def merge_partials(outs, lses):
    wide = outs.dtype
    o, s = outs.to(wide), lses.to(wide)
    top = s.amax(0)
    top = top.masked_fill(top.isneginf(), 0.0).detach()
    weights = (s - top).exp()
    total = weights.sum(0)
    empty = total == 0
    total = total.masked_fill(empty, 1.0)
    out = (weights[..., None] * o).sum(0) / total[..., None]
    lse = (top + total.log()).masked_fill(empty, float("-inf"))
    return out.to(outs.dtype), lse.to(lses.dtype)
