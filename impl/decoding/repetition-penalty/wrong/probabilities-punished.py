"""Divides the probabilities.
除的是概率。

symptom: Subtracts log penalty from a logit, whatever its size.
症状：等于给每个 logit 减去 log penalty，与大小无关。

cards: dec-15
rung: solved
"""

import torch


def repetition_penalty(logits, ids, penalty):
    seen = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, ids, True)
    punished = logits.log_softmax(-1) - float(torch.tensor(float(penalty)).log())
    return torch.where(seen, punished, logits)
