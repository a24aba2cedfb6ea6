"""Returns out in the dtype of the lses.
out 用了 lse 的 dtype。

symptom: A bf16 model gets float32 activations.
症状：bf16 模型里冒出 float32 的激活。

cards: prec-07
rung: hardened
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
    lse = (top + total.log()).masked_fill(empty, float("-inf"))
    return out.to(lses.dtype), lse.to(lses.dtype)
