"""Calls topk with k as given.
把 k 原样传给 topk。

symptom: RuntimeError for k > V.
症状：k > V 时 RuntimeError。

cards: dec-01
rung: solved
"""

import torch


def filter_logits(logits, top_k=None, top_p=None, min_p=None, temperature=1.0):
    z = logits.to(torch.promote_types(logits.dtype, torch.float32)) / temperature
    values, order = z.sort(dim=-1, descending=True, stable=True)
    if top_k:
        least = values.topk(top_k, dim=-1).values[:, -1:]
        values = values.masked_fill(values < least, float("-inf"))
    if top_p and top_p < 1:
        probs = values.softmax(-1)
        before = probs.cumsum(-1) - probs
        values = values.masked_fill(before >= top_p, float("-inf"))
    if min_p:
        probs = values.softmax(-1)
        values = values.masked_fill(probs < min_p * probs[:, :1], float("-inf"))
    return torch.empty_like(z).scatter_(-1, order, values).to(logits.dtype)
