"""Looks at key i − 1, the previous token.
看的是 key i − 1，也就是前一个 token。

symptom: Previous-token heads of the first layer win.
症状：胜出的是第一层的 previous-token head。

cards: eval-07
rung: solved
"""

import torch


def induction_score(attn, period):
    wide = attn.to(torch.promote_types(attn.dtype, torch.float32))
    T = attn.shape[-1]
    i = torch.arange(period, T, device=attn.device)
    return wide[:, :, i, i - 1].mean(-1).to(attn.dtype)
