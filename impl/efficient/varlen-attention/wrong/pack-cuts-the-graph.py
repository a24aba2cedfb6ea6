"""Copies the data without its graph.
复制数据时丢掉了计算图。

symptom: Nothing before the attention trains.
症状：注意力之前的部分都不训练。

cards: mask-11
rung: solved
"""

import torch


def pack(seqs):
    x = torch.cat([s.detach() for s in seqs], dim=0)
    ends = torch.tensor([0] + [s.shape[0] for s in seqs], device=x.device).cumsum(0)
    return x, ends.to(torch.int32)


def varlen_attention(q, k, v, cu_seqlens, causal=True):
    wide = torch.promote_types(q.dtype, torch.float32)
    ends, outs = cu_seqlens.tolist(), []
    for a, b in zip(ends[:-1], ends[1:]):
        qs, ks, vs = (t[a:b].to(wide).transpose(0, 1) for t in (q, k, v))
        s = qs @ ks.mT / q.shape[-1] ** 0.5
        if causal:
            future = torch.ones(b - a, b - a, dtype=torch.bool, device=q.device).triu(1)
            s = s.masked_fill(future, float("-inf"))
        outs.append((s.softmax(-1) @ vs).transpose(0, 1))
    return torch.cat(outs, 0).to(q.dtype)
