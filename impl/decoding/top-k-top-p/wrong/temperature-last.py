"""Filters first and divides by the temperature afterwards.
先过滤，最后才除以温度。

symptom: top_p keeps another set than the distribution that is drawn from.
症状：top_p 留下的集合对应的不是真正采样的分布。

cards: dec-02
rung: solved
"""

import torch


def filter_logits(logits, top_k=None, top_p=None, min_p=None, temperature=1.0):
    z = logits.to(torch.promote_types(logits.dtype, torch.float32))
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
    return torch.empty_like(z).scatter_(-1, order, values / temperature).to(logits.dtype)
