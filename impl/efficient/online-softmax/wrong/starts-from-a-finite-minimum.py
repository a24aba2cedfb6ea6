"""Starts from −10³⁰ instead of −inf.
初值用 −10³⁰ 代替 −inf。

symptom: A row of −inf reports m = −10³⁰.
症状：全为 −inf 的行报 m = −10³⁰。

cards: mask-03
rung: hardened
"""

import torch


def online_softmax_stats(chunks):
    m = l = None
    for chunk in chunks:
        x = chunk.to(torch.promote_types(chunk.dtype, torch.float32))
        top = x.amax(-1).clamp(min=-1e30)
        new = top if m is None else torch.maximum(m, top)
        shift = new.masked_fill(new == float("-inf"), 0.0)
        total = (x - shift[..., None]).exp().sum(-1)
        l = total if m is None else l * (m - shift).exp() + total
        m = new
    return m.to(chunk.dtype), l.to(chunk.dtype)
