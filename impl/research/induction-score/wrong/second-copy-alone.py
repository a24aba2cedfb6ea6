"""Stops behind the second copy.
只算到第二遍为止。

symptom: Right for two copies; later ones are left out.
症状：只有两遍时正确，之后的都没算。

cards: eval-07
rung: solved
"""

import torch


def induction_score(attn, period):
    wide = attn.to(torch.promote_types(attn.dtype, torch.float32))
    T = attn.shape[-1]
    i = torch.arange(period, min(2 * period, T), device=attn.device)
    return wide[:, :, i, i - period + 1].mean(-1).to(attn.dtype)
