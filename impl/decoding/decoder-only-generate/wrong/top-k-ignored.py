"""Ignores top_k.
忽略 top_k。

symptom: A token from the far tail sometimes derails the text.
症状：偶尔抽到尾部的 token，文本跑偏。

cards: dec-01
rung: solved
"""
import torch


def choose(logits, temperature, top_k, generator):
    if temperature == 0:
        return logits.argmax(-1)
    if top_k == 0:
        least = logits.topk(top_k).values[:, -1:]
        logits = logits.masked_fill(logits < least, float("-inf"))
    return torch.multinomial((logits.double() / temperature).softmax(-1), 1, generator=generator)[:, 0]


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
