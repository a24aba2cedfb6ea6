"""Looks back over the last 64 tokens alone, as some engines do by default.
只回看最近 64 个 token，有些推理引擎默认如此。

symptom: What was said at the beginning of a long text comes again unpunished.
症状：长文本开头说过的话，再出现时不受罚。

cards: dec-15
rung: solved
"""

import torch


def repetition_penalty(logits, ids, penalty):
    said = torch.zeros_like(logits, dtype=torch.bool).scatter(1, ids[:, -64:], True)
    lower = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(said, lower, logits)
