"""Multiplies positive logits and divides negative ones.
正的乘、负的除，弄反了。

symptom: Repetition is rewarded.
症状：重复得到了奖励。

cards: dec-15
rung: solved
"""

import torch


def repetition_penalty(logits, ids, penalty):
    seen = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, ids, True)
    punished = torch.where(logits <= 0, logits / penalty, logits * penalty)
    return torch.where(seen, punished, logits)
