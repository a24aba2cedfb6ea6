"""Takes the maximum over the first hundred entries of a slice.
只在切片的前一百个元素里找最大值。

symptom: inf and NaN as soon as a large logit stands further back.
症状：大的 logit 一旦排在后面，就出现 inf 和 NaN。

cards: att-24
rung: solved
"""

from __future__ import annotations

import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    peak = wide.detach().narrow(dim, 0, min(100, wide.shape[dim])).amax(dim, keepdim=True)
    peak = peak.masked_fill(peak == float("-inf"), 0.0)
    weights = (wide - peak).exp()
    total = weights.sum(dim, keepdim=True)
    total = total.masked_fill(total == 0.0, 1.0)
    return (weights / total).to(x.dtype)
