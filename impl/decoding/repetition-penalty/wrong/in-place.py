"""Writes into the logits it was given.
直接改了传进来的 logits。

symptom: Whoever reads the logits later sees other ones.
症状：之后再读 logits 的人看到的已经变了。

cards: dec-02
rung: solved
"""

import torch


def repetition_penalty(logits, ids, penalty):
    seen = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, ids, True)
    punished = torch.where(logits > 0, logits / penalty, logits * penalty)
    logits.copy_(torch.where(seen, punished, logits))
    return logits
