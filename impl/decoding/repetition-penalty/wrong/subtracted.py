"""Subtracts the penalty, as a presence penalty does.
减去惩罚值，那是 presence penalty 的做法。

symptom: 1.2 does something else at every temperature and scale of logits.
症状：logits 的尺度不同，1.2 的效果就不同。

cards: dec-15
rung: solved
"""

import torch


def repetition_penalty(logits, ids, penalty):
    seen = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, ids, True)
    punished = logits - penalty
    return torch.where(seen, punished, logits)
