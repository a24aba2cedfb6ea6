"""Returns log l + m as the second result.
第二个返回值成了 m + log l。

symptom: That is the lse, not the denominator under m.
症状：那是 lse，不是以 m 为基准的分母。

cards: att-24
rung: solved
"""

import torch


def online_softmax_stats(chunks):
    m = l = None
    for chunk in chunks:
        x = chunk.to(torch.promote_types(chunk.dtype, torch.float32))
        top = x.amax(-1)
        new = top if m is None else torch.maximum(m, top)
        shift = new.masked_fill(new == float("-inf"), 0.0)
        total = (x - shift[..., None]).exp().sum(-1)
        l = total if m is None else l * (m - shift).exp() + total
        m = new
    return m.to(chunk.dtype), (m + l.log()).to(chunk.dtype)
