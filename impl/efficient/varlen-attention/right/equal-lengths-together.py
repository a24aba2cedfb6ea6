"""Sequences of equal length in one batch, scattered back by index."""

import torch


def pack(seqs):
    lengths = torch.tensor([s.size(0) for s in seqs], device=seqs[0].device, dtype=torch.int32)
    zero = torch.zeros(1, dtype=torch.int32, device=lengths.device)
    return torch.vstack(list(seqs)), torch.cat([zero, torch.cumsum(lengths, 0, dtype=torch.int32)])


def varlen_attention(q, k, v, cu_seqlens, causal=True):
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    ends = cu_seqlens.tolist()
    by_length = {}
    for start, end in zip(ends, ends[1:]):
        by_length.setdefault(end - start, []).append(start)
    out = torch.zeros(q.shape, dtype=wide, device=q.device)
    for n, starts in by_length.items():
        if n == 0:
            continue
        at = (torch.tensor(starts, device=q.device)[:, None] + torch.arange(n, device=q.device)).flatten()
        a, b, c = (t[at].to(wide).unflatten(0, (-1, n)).permute(0, 2, 1, 3) for t in (q, k, v))
        w = a.mul(q.shape[-1] ** -0.5) @ b.transpose(2, 3)
        if causal:
            w = w + torch.full((n, n), float("-inf"), dtype=wide, device=q.device).triu(1)
        mixed = torch.softmax(w, dim=3) @ c
        out = out.index_copy(0, at, mixed.permute(0, 2, 1, 3).flatten(0, 1))
    return out.to(q.dtype)
