"""Applies top_p first and top_k to what is left.
先做 top_p，再做 top_k。

symptom: p is measured on the whole vocabulary, not on the k best.
症状：p 是对整个词表量的，不是对前 k 个。

cards: dec-02
rung: solved
"""

import torch


def filter_logits(logits, top_k=None, top_p=None, min_p=None, temperature=1.0):
    z = logits.to(torch.promote_types(logits.dtype, torch.float32)) / temperature
    values, order = z.sort(dim=-1, descending=True, stable=True)
    if top_p and top_p < 1:
        probs = values.softmax(-1)
        before = probs.cumsum(-1) - probs
        values = values.masked_fill(before >= top_p, float("-inf"))
    if top_k:
        rank = torch.arange(z.shape[-1], device=z.device)
        values = values.masked_fill(rank >= top_k, float("-inf"))
    if min_p:
        probs = values.softmax(-1)
        values = values.masked_fill(probs < min_p * probs[:, :1], float("-inf"))
    return torch.empty_like(z).scatter_(-1, order, values).to(logits.dtype)
