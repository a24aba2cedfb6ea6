"""Takes top_p = 0 for a very small p.
top_p = 0 被当成极小的 p。

symptom: Greedy where no filter was asked for.
症状：没要过滤，却变成了贪心。

cards: dec-01
rung: solved
"""

import torch


def filter_logits(logits, top_k=None, top_p=None, min_p=None, temperature=1.0):
    z = logits.to(torch.promote_types(logits.dtype, torch.float32)) / temperature
    values, order = z.sort(dim=-1, descending=True, stable=True)
    if top_k:
        rank = torch.arange(z.shape[-1], device=z.device)
        values = values.masked_fill(rank >= top_k, float("-inf"))
    if top_p is not None and top_p < 1:
        top_p = max(top_p, 1e-9)
        probs = values.softmax(-1)
        before = probs.cumsum(-1) - probs
        values = values.masked_fill(before >= top_p, float("-inf"))
    if min_p:
        probs = values.softmax(-1)
        values = values.masked_fill(probs < min_p * probs[:, :1], float("-inf"))
    return torch.empty_like(z).scatter_(-1, order, values).to(logits.dtype)
