"""Divides the sum by T.
和除以了 T。

symptom: The score of a perfect head is (T − period)/T: one half for two copies.
症状：满分的头只得 (T − period)/T：两遍时是一半。

cards: eval-07
rung: solved
"""

import torch


def induction_score(attn, period):
    wide = attn.to(torch.promote_types(attn.dtype, torch.float32))
    T = attn.shape[-1]
    i = torch.arange(period, T, device=attn.device)
    return (wide[:, :, i, i - period + 1].sum(-1) / T).to(attn.dtype)
