"""Clamps the penalty to at least 1.
把 penalty 限制为不小于 1。

symptom: A penalty below 1, which favours repetition, does nothing.
症状：小于 1 的 penalty（鼓励重复）不起作用。

cards: dec-15
rung: solved
"""

import torch


def repetition_penalty(logits, ids, penalty):
    penalty = max(penalty, 1.0)
    seen = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, ids, True)
    punished = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(seen, punished, logits)
