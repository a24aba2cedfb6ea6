"""Punishes logits measured from the row's maximum.
先减去该行的最大值再罚。

symptom: The best token is never punished.
症状：最大的那个 token 永远不受罚。

cards: dec-15
rung: solved
"""

import torch


def repetition_penalty(logits, ids, penalty):
    logits = logits - logits.amax(-1, keepdim=True)
    seen = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, ids, True)
    punished = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(seen, punished, logits)
