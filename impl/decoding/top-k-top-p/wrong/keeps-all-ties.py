"""Keeps every logit that equals the k-th.
与第 k 大相等的 logit 全部保留。

symptom: More than k tokens where logits are equal.
症状：logits 相等时留下不止 k 个。

cards: dec-01
rung: hardened
"""

import torch


def filter_logits(logits, top_k=None, top_p=None, min_p=None, temperature=1.0):
    z = logits.to(torch.promote_types(logits.dtype, torch.float32)) / temperature
    values, order = z.sort(dim=-1, descending=True, stable=True)
    if top_k:
        k = min(top_k, z.shape[-1])
        values = values.masked_fill(values < values[:, k - 1 : k], float("-inf"))
    if top_p and top_p < 1:
        probs = values.softmax(-1)
        before = probs.cumsum(-1) - probs
        values = values.masked_fill(before >= top_p, float("-inf"))
    if min_p:
        probs = values.softmax(-1)
        values = values.masked_fill(probs < min_p * probs[:, :1], float("-inf"))
    return torch.empty_like(z).scatter_(-1, order, values).to(logits.dtype)
