"""Counts the queries of the first period; their negative keys wrap around.
把第一个周期的 query 也算进去，负的 key 下标绕到了末尾。

symptom: The average is diluted by weights on the future.
症状：平均值里混进了看向未来的权重。

cards: eval-07
rung: solved
"""

import torch


def induction_score(attn, period):
    wide = attn.to(torch.promote_types(attn.dtype, torch.float32))
    T = attn.shape[-1]
    i = torch.arange(T, device=attn.device)
    return wide[:, :, i, i - period + 1].mean(-1).to(attn.dtype)
