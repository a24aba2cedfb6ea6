"""Takes id 0 for padding and spares it.
把 id 0 当成 padding，不罚。

symptom: Where 0 is a word, it is repeated.
症状：0 是普通词时，会一直重复。

cards: dec-15
rung: solved
"""

import torch


def repetition_penalty(logits, ids, penalty):
    seen = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, ids, True)
    seen[:, 0] = False
    punished = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(seen, punished, logits)
