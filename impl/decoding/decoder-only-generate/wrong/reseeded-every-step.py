"""Starts every step from the generator's seed.
每一步都从种子重新开始。

symptom: Repetitive text; single tokens have the right frequencies.
症状：文本重复，单个 token 的频率却没错。

cards: dec-03
rung: solved
"""
import torch


def choose(logits, temperature, top_k, generator):
    if temperature == 0:
        return logits.argmax(-1)
    seed = torch.randint(2**31, (1,)).item() if generator is None else generator.initial_seed()
    generator = torch.Generator().manual_seed(seed)
    if top_k is not None:
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
