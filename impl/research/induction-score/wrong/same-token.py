"""Looks at key i − period, the same token.
看的是 key i − period，也就是同一个 token。

symptom: Duplicate-token heads score 1, induction heads 0.
症状：得满分的是“同 token 头”，归纳头得 0。

cards: eval-07
rung: solved
"""

import torch


def induction_score(attn, period):
    wide = attn.to(torch.promote_types(attn.dtype, torch.float32))
    T = attn.shape[-1]
    i = torch.arange(period, T, device=attn.device)
    return wide[:, :, i, i - period].mean(-1).to(attn.dtype)
