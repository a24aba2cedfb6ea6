"""Hands back its argument for penalty 1.
penalty 为 1 时直接返回参数本身。

symptom: A later in-place filter changes the logits of the model.
症状：之后原地过滤，就改了模型的 logits。

cards: dec-02
rung: hardened
"""

import torch


def repetition_penalty(logits, ids, penalty):
    if penalty == 1:
        return logits
    seen = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, ids, True)
    punished = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(seen, punished, logits)
