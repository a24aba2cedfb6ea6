"""Feeds finished rows their draws; overwrites what follows the first eos at the end."""
import torch


def generate(model, ids, max_new, eos=None, temperature=1.0, top_k=None, generator=None):
    columns, cache, fed = [], None, ids
    for _ in range(max_new):
        logits, cache = model(fed, cache=cache)
        scores = logits[:, -1].to(torch.float32)
        if not temperature:
            token = torch.argmax(scores, 1)
        else:
            k = scores.shape[1] if top_k is None else top_k
            best, where = torch.topk(scores / temperature, k, dim=1)
            picked = torch.multinomial(torch.exp(best - best[:, :1]), 1, replacement=True, generator=generator)
            token = where.gather(1, picked).squeeze(1)
        columns.append(token)
        fed = token.unsqueeze(1)
        if eos is not None and bool(torch.stack(columns, 1).eq(eos).any(1).all()):
            break
    if not columns:
        return torch.clone(ids)
    new = torch.stack(columns, 1)
    if eos is not None:
        behind = new.eq(eos).long().cumsum(1) - new.eq(eos).long() > 0
        new = new.masked_fill(behind, eos)
    return torch.hstack([ids, new])
