"""Joins keys and values on every rank.
每个 rank 都把 key 和 value 拼起来。

symptom: A rank needs the memory of the whole sequence: that is an all-gather, not a ring.
症状：一个 rank 就要装下整个序列：那是 all-gather，不是环。

cards: flash-10, dist-09
rung: solved
"""

import torch


def ring_attention(q_chunks, k_chunks, v_chunks, causal):
    outs, start = [], 0
    for r, chunk in enumerate(q_chunks):
        wide = torch.promote_types(chunk.dtype, torch.float32)
        last = r + 1 if causal else len(k_chunks)
        k, v = (torch.cat(list(c[:last]), 2).to(wide) for c in (k_chunks, v_chunks))
        s = chunk.to(wide) @ k.mT / chunk.shape[-1] ** 0.5
        if causal:
            future = torch.ones(s.shape[-2:], dtype=torch.bool, device=s.device).triu(start + 1)
            s = s.masked_fill(future, float("-inf"))
        outs.append((s.softmax(-1) @ v).to(chunk.dtype))
        start += chunk.shape[2]
    return outs
