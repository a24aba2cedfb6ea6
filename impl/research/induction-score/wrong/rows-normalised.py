"""Divides every row by its sum first.
先把每行除以它的和。

symptom: Other numbers wherever rows do not sum to 1, such as after dropout.
症状：行和不为 1 时（例如 dropout 之后）结果就不同。

cards: eval-07, mask-12
rung: solved
"""

import torch


def induction_score(attn, period):
    wide = attn.to(torch.promote_types(attn.dtype, torch.float32))
    wide = wide / wide.sum(-1, keepdim=True)
    T = attn.shape[-1]
    i = torch.arange(period, T, device=attn.device)
    return wide[:, :, i, i - period + 1].mean(-1).to(attn.dtype)
