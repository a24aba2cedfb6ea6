"""Applies the sorted mask to the unsorted logits.
把排序后的掩码直接用在没排序的 logits 上。

symptom: Removes tokens by chance.
症状：删掉谁全凭运气。

cards: dec-03
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
        probs = values.softmax(-1)
        before = probs.cumsum(-1) - probs
        values = values.masked_fill(before >= top_p, float("-inf"))
    if min_p:
        probs = values.softmax(-1)
        values = values.masked_fill(probs < min_p * probs[:, :1], float("-inf"))
    return z.masked_fill(values.isneginf(), float("-inf")).to(logits.dtype)
