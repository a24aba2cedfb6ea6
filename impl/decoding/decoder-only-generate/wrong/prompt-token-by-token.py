"""Feeds the prompt one token at a time.
提示也逐个 token 地喂。

symptom: Right text, but the first token waits for one step per prompt token.
症状：文本对，首 token 却要等提示逐个算完。

cards: dec-05
rung: solved
"""
import torch


def choose(logits, temperature, top_k, generator):
    if temperature == 0:
        return logits.argmax(-1)
    if top_k is not None:
        least = logits.topk(top_k).values[:, -1:]
        logits = logits.masked_fill(logits < least, float("-inf"))
    return torch.multinomial((logits.double() / temperature).softmax(-1), 1, generator=generator)[:, 0]


def generate(model, ids, max_new, eos=None, temperature=1.0, top_k=None, generator=None):
    out, new, cache = ids.clone(), ids, None
    done = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    for column in ids[:, :-1].unbind(1):
        _, cache = model(column[:, None], cache)
    new = ids[:, -1:]
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
