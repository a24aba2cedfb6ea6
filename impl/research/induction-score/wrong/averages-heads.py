"""Averages over the heads of a layer.
对一层的各个头取了平均。

symptom: One induction head among sixteen disappears.
症状：十六个头里的一个归纳头被抹平。

cards: eval-07, head-14
rung: solved
"""

import torch


def induction_score(attn, period):
    wide = attn.to(torch.promote_types(attn.dtype, torch.float32))
    T = attn.shape[-1]
    i = torch.arange(period, T, device=attn.device)
    return wide[:, :, i, i - period + 1].mean(-1).mean(1, keepdim=True).expand(attn.shape[:2]).clone().to(attn.dtype)
