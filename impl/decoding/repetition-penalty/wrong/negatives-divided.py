"""Divides negative logits too.
负的 logit 也用除法。

symptom: Repeated tokens with negative logits become more likely.
症状：logit 为负的重复 token 反而更容易被选中。

cards: dec-15
rung: solved
"""

import torch


def repetition_penalty(logits, ids, penalty):
    seen = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, ids, True)
    punished = logits / penalty
    return torch.where(seen, punished, logits)
