"""Computes in float32, whatever comes in.
不管输入是什么都按 float32 算。

symptom: float64 loses half of its digits.
症状：float64 丢掉一半有效数字。

cards: prec-07
rung: hardened
"""

import torch


def online_softmax_stats(chunks):
    m = l = None
    for chunk in chunks:
        x = chunk.float()
        top = x.amax(-1)
        new = top if m is None else torch.maximum(m, top)
        shift = new.masked_fill(new == float("-inf"), 0.0)
        total = (x - shift[..., None]).exp().sum(-1)
        l = total if m is None else l * (m - shift).exp() + total
        m = new
    return m.to(chunk.dtype), l.to(chunk.dtype)
