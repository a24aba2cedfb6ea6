"""Returns the prompt itself when nothing is generated.
什么都不生成时，返回提示本身。

symptom: Writing to the result changes the prompt.
症状：改动结果就改动了提示。

cards: dec-06
rung: hardened
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
    out, new, cache = ids, ids, None
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
