"""Punishes the tokens that have not occurred.
罚的是没出现过的 token。

symptom: The model repeats itself for ever.
症状：模型不停地重复。

cards: dec-15
rung: solved
"""

import torch


def repetition_penalty(logits, ids, penalty):
    seen = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, ids, True)
    punished = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(seen, logits, punished)
