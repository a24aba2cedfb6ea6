"""Counts how often the largest weight lies there.
数的是最大权重落在那里的次数。

symptom: A share of hits, without gradient; a head that puts 0.4 there scores 1.
症状：成了命中率，没有梯度；权重只有 0.4 的头也得 1。

cards: eval-07
rung: solved
"""

import torch


def induction_score(attn, period):
    wide = attn.to(torch.promote_types(attn.dtype, torch.float32))
    T = attn.shape[-1]
    i = torch.arange(period, T, device=attn.device)
    return (wide[:, :, i].argmax(-1) == i - period + 1).to(wide.dtype).mean(-1).to(attn.dtype)
