"""Uses one random number for all rows.
所有行共用一个随机数。

symptom: The samples of a batch are copies.
症状：同一 batch 里的样本都一样。

cards: dec-18
rung: solved
"""
import torch


def choose(logits, temperature, top_k, generator):
    if temperature == 0:
        return logits.argmax(-1)
    if top_k is not None:
        least = logits.topk(top_k).values[:, -1:]
        logits = logits.masked_fill(logits < least, float("-inf"))
    total = (logits.double() / temperature).softmax(-1).cumsum(-1)
    return (total < torch.rand(1, generator=generator, device=logits.device)).sum(-1).clamp(max=logits.shape[-1] - 1)


def generate(model, ids, max_new, eos=None, temperature=1.0, top_k=None, generator=None):
    out, new, cache = ids.clone(), ids, None
    done = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    for _ in range(max_new):
        logits, cache = model(new, cache)
        token = choose(logits[:, -1], temperature, top_k, generator)
        if eos is not None:
            token = torch.where(done, eos, token)
            done = done | (token == eos)
        new = token[:, None]
        out = torch.cat([out, new], 1)
        if eos is not None and done.all():
            break
    return out
