"""Takes the mass before top_k was applied.
top_p 用的是 top_k 之前的概率。

symptom: Keeps more tokens than p asks for.
症状：留下的 token 比 p 要求的多。

cards: dec-02
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
        probs = z.softmax(-1).gather(-1, order)
        before = probs.cumsum(-1) - probs
        values = values.masked_fill(before >= top_p, float("-inf"))
    if min_p:
        probs = values.softmax(-1)
        values = values.masked_fill(probs < min_p * probs[:, :1], float("-inf"))
    return torch.empty_like(z).scatter_(-1, order, values).to(logits.dtype)
