"""Punishes a token once for every time it occurs.
token 出现几次就罚几次。

symptom: Commas and articles vanish from long texts.
症状：文本一长，逗号和冠词就消失了。

cards: dec-15
rung: solved
"""

import torch


def repetition_penalty(logits, ids, penalty):
    seen = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, ids, True)
    count = torch.zeros_like(logits).scatter_add_(1, ids, torch.ones_like(ids, dtype=logits.dtype))
    factor = penalty**count
    punished = torch.where(logits > 0, logits / factor, logits * factor)
    return torch.where(seen, punished, logits)
