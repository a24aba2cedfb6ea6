"""Puts the penalty into a tensor of the dtype of the logits.
把 penalty 放进与 logits 同 dtype 的张量。

symptom: bfloat16: a penalty of 1.2 becomes 1.203, and punished logits miss in the last bit.
症状：bfloat16 下 1.2 变成 1.203，被罚的 logit 末位不对。

cards: dec-15, prec-07
rung: hardened
"""

import torch


def repetition_penalty(logits, ids, penalty):
    score = logits.gather(1, ids)  # (B, T)
    factor = torch.full_like(score, penalty)
    score = torch.where(score > 0, score / factor, score * factor)
    return logits.scatter(1, ids, score)
