"""Makes the mask on the CPU.
掩码建在 CPU 上。

symptom: Fails on a GPU.
症状：在 GPU 上报错。

cards: dec-15
rung: hardened
"""

import torch


def repetition_penalty(logits, ids, penalty):
    seen = torch.zeros(logits.shape, dtype=torch.bool).scatter_(1, ids, True)
    punished = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(seen, punished, logits)
