"""Multiplies (n, H, d) as it comes, so heads attend to heads.
直接拿 (n, H, d) 相乘，成了头与头之间的注意力。

symptom: No token sees another one.
症状：token 之间互不可见。

cards: head-12
rung: solved
"""

import torch


def pack(seqs):
    x = torch.cat(seqs, dim=0)
    ends = torch.tensor([0] + [s.shape[0] for s in seqs], device=x.device).cumsum(0)
    return x, ends.to(torch.int32)


def varlen_attention(q, k, v, cu_seqlens, causal=True):
    wide = torch.promote_types(q.dtype, torch.float32)
    ends, outs = cu_seqlens.tolist(), []
    for a, b in zip(ends[:-1], ends[1:]):
        qs, ks, vs = (t[a:b].to(wide) for t in (q, k, v))
        s = qs @ ks.mT / q.shape[-1] ** 0.5
        if causal:
            future = torch.ones(q.shape[1], q.shape[1], dtype=torch.bool, device=q.device).triu(1)
            s = s.masked_fill(future, float("-inf"))
        outs.append((s.softmax(-1) @ vs))
    return torch.cat(outs, 0).to(q.dtype)
