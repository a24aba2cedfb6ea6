"""Computes in the input's 16 bits.
直接用 16 位计算。

symptom: l stops growing: at 256 in bfloat16, where ones are added.
症状：l 不再增长：bfloat16 里逐个加 1，到 256 就停了。

cards: prec-07
rung: hardened
"""

import torch


def online_softmax_stats(chunks):
    m = l = None
    for chunk in chunks:
        x = chunk
        top = x.amax(-1)
        new = top if m is None else torch.maximum(m, top)
        shift = new.masked_fill(new == float("-inf"), 0.0)
        total = (x - shift[..., None]).exp().sum(-1)
        l = total if m is None else l * (m - shift).exp() + total
        m = new
    return m.to(chunk.dtype), l.to(chunk.dtype)
