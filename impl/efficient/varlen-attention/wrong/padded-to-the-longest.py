"""Pads all sequences to the longest.
把所有序列填充到最长。

symptom: One long document makes every short one as expensive.
症状：一篇长文档，让每篇短的都一样贵。

cards: mask-11, mask-10
rung: solved
"""

import torch


def pack(seqs):
    x = torch.cat(seqs, dim=0)
    ends = torch.tensor([0] + [s.shape[0] for s in seqs], device=x.device).cumsum(0)
    return x, ends.to(torch.int32)


def varlen_attention(q, k, v, cu_seqlens, causal=True):
    wide = torch.promote_types(q.dtype, torch.float32)
    lengths = cu_seqlens.diff()
    T = int(lengths.max())
    there = torch.arange(T, device=q.device) < lengths[:, None]
    rows = [t.new_zeros(len(lengths), T, *t.shape[1:]).masked_scatter(there[..., None, None], t) for t in (q, k, v)]
    qp, kp, vp = (t.to(wide).transpose(1, 2) for t in rows)
    s = (qp @ kp.mT / q.shape[-1] ** 0.5).masked_fill(~there[:, None, None], -1e30)
    if causal:
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=q.device).triu(1), -1e30)
    return (s.softmax(-1) @ vp).transpose(1, 2)[there].to(q.dtype)
