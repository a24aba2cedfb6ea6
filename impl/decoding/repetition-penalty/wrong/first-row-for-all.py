"""Uses the ids of the first row for all.
所有行都用第一行的 ids。

symptom: Right for a batch of one.
症状：batch 为 1 时才对。

cards: dec-15
rung: solved
"""

import torch


def repetition_penalty(logits, ids, penalty):
    seen = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, ids[:1].expand(len(logits), -1), True)
    punished = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(seen, punished, logits)
