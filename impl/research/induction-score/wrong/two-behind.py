"""Is off by one to the right: key i − period + 2.
向右多偏了一位：key i − period + 2。

symptom: An induction head scores next to nothing.
症状：归纳头的得分也接近 0。

cards: eval-07
rung: solved
"""

import torch


def induction_score(attn, period):
    wide = attn.to(torch.promote_types(attn.dtype, torch.float32))
    T = attn.shape[-1]
    i = torch.arange(period, T, device=attn.device)
    return wide[:, :, i, (i - period + 2).clamp(max=T - 1)].mean(-1).to(attn.dtype)
