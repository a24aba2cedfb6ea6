"""Passes the cache and the whole prefix.
传了 cache 又喂整个前缀。

symptom: Wrong from the second token on; the cache grows quadratically.
症状：第二个 token 起就错，cache 按平方增长。

cards: kv-21
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
    for _ in range(max_new):
        logits, cache = model(out, cache)
        token = choose(logits[:, -1], temperature, top_k, generator)
        if eos is not None:
            token = torch.where(done, eos, token)
            done = done | (token == eos)
        new = token[:, None]
        out = torch.cat([out, new], 1)
        if eos is not None and done.all():
            break
    return out
