"""Cumulates logits instead of probabilities.
累加的是 logits，不是概率。

symptom: p means something else in each row.
症状：每一行里 p 的含义都不同。

cards: dec-01, dec-03
rung: solved
"""

import torch


def filter_logits(logits, top_k=None, top_p=None, min_p=None, temperature=1.0):
    z = logits.to(torch.promote_types(logits.dtype, torch.float32)) / temperature
    values, order = z.sort(dim=-1, descending=True, stable=True)
    if top_k:
        rank = torch.arange(z.shape[-1], device=z.device)
        values = values.masked_fill(rank >= top_k, float("-inf"))
    if top_p and top_p < 1:
        probs = values.clamp(min=0)
        before = probs.cumsum(-1) - probs
        values = values.masked_fill(before >= top_p, float("-inf"))
    if min_p:
        probs = values.softmax(-1)
        values = values.masked_fill(probs < min_p * probs[:, :1], float("-inf"))
    return torch.empty_like(z).scatter_(-1, order, values).to(logits.dtype)
