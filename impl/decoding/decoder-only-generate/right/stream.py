"""A generator of tokens, one call ahead; inverse CDF with `searchsorted`."""

from __future__ import annotations

from itertools import islice
import torch
from torch import Tensor


def stream(model, ids, temperature, top_k, gen, eos):
    logits, cache = model(ids, None)
    dead = None
    while True:
        z = logits[:, -1].double()
        if top_k is not None:
            keep = torch.zeros_like(z, dtype=torch.bool).scatter_(1, z.topk(top_k).indices, True)
            z = z.masked_fill(~keep, float("-inf"))
        if temperature > 0:
            c = torch.softmax(z.sub(z.max(1, keepdim=True).values).div(temperature), 1).cumsum(1)
            u = torch.rand(len(z), 1, generator=gen, dtype=torch.float64, device=z.device) * c[:, -1:]
            t = torch.searchsorted(c, u, right=True).clamp(max=z.shape[1] - 1)
        else:
            t = z.argmax(1, keepdim=True)
        if dead is not None:
            t = t.masked_fill(dead, eos)
        if eos is not None:
            dead = t.eq(eos) if dead is None else dead | t.eq(eos)
        yield t
        if dead is not None and bool(dead.all()):
            return
        logits, cache = model(t, cache)


def generate(model, ids, max_new, eos=None, temperature=1.0, top_k=None, generator=None):
    new = list(islice(stream(model, ids, temperature, top_k, generator, eos), max_new))
    return torch.cat([ids, *new], dim=1) if new else ids.clone()
