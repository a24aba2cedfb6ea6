"""Takes the k-th largest logit of the first row for all.
所有行都用第一行第 k 大的 logit 当门槛。

symptom: Other rows keep their best token alone, or all.
症状：别的行可能只留最好的一个，也可能全留。

cards: dec-01
rung: solved
"""

import torch


def filter_logits(logits, top_k=None, top_p=None, min_p=None, temperature=1.0):
    z = logits.to(torch.promote_types(logits.dtype, torch.float32)) / temperature
    values, order = z.sort(dim=-1, descending=True, stable=True)
    if top_k:
        k = min(top_k, z.shape[-1])
        least = values[:1, k - 1 : k]
        values = values.masked_fill((values < least) & (values < values[:, :1]), float("-inf"))
    if top_p and top_p < 1:
        probs = values.softmax(-1)
        before = probs.cumsum(-1) - probs
        values = values.masked_fill(before >= top_p, float("-inf"))
    if min_p:
        probs = values.softmax(-1)
        values = values.masked_fill(probs < min_p * probs[:, :1], float("-inf"))
    return torch.empty_like(z).scatter_(-1, order, values).to(logits.dtype)
