"""Takes the whole diagonal, from query period − 1 on.
取了整条对角线，从 query period − 1 就开始。

symptom: One query without an earlier copy is counted: half the score at T = period + 1.
症状：多算了一个前面没有同样 token 的 query：T = period + 1 时占一半。

cards: eval-07
rung: solved
"""

import torch


def induction_score(attn, period):
    wide = attn.to(torch.promote_types(attn.dtype, torch.float32))
    T = attn.shape[-1]
    i = torch.arange(period - 1, T, device=attn.device)
    return wide[:, :, i, i - period + 1].mean(-1).to(attn.dtype)
