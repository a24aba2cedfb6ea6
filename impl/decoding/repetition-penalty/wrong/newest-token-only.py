"""Punishes the newest token alone.
只罚最新的一个 token。

symptom: "the cat the cat the cat" passes.
症状：“the cat the cat the cat” 照样出现。

cards: dec-15
rung: solved
"""

import torch


def repetition_penalty(logits, ids, penalty):
    seen = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, ids[:, -1:], True)
    punished = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(seen, punished, logits)
