"""Sets removed tokens to a finite number such as −100.
删掉的 token 只设成 −100 之类的有限值。

symptom: A removed token is drawn where all logits are low.
症状：logits 都很低时，删掉的 token 照样被采到。

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
    values = values.masked_fill(values.isneginf(), -100.0)
    return torch.empty_like(z).scatter_(-1, order, values).to(logits.dtype)
