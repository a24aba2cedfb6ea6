"""Takes the maximum over 100 entries.
只在前一百个元素里找最大值。

symptom: inf and NaN for a large logit further back.
症状：大 logit 排在后面就出 inf、NaN。

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
