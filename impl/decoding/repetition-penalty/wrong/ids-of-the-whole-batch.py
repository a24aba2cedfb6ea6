"""Punishes in every row what any row has said.
任何一行说过的 token，每一行都罚。

symptom: A row's text depends on its neighbours in the batch.
症状：一行的输出取决于同一批里的别的行。

cards: dec-15
rung: solved
"""

import torch


def repetition_penalty(logits, ids, penalty):
    seen = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, ids, True)
    seen = seen.any(0, keepdim=True)
    punished = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(seen, punished, logits)
