"""Takes rows for keys and columns for queries.
把行当成 key、列当成 query。

symptom: It reads above the diagonal: 0 for every causal model.
症状：读的是对角线上方：因果模型全为 0。

cards: eval-07, eval-06
rung: solved
"""

import torch


def induction_score(attn, period):
    wide = attn.to(torch.promote_types(attn.dtype, torch.float32))
    T = attn.shape[-1]
    i = torch.arange(period, T, device=attn.device)
    return wide[:, :, i - period + 1, i].mean(-1).to(attn.dtype)
