"""Each token over its slice of the pack."""

import itertools
import math

import torch


def pack(seqs):
    ends = list(itertools.accumulate((len(s) for s in seqs), initial=0))
    return torch.concatenate(list(seqs)), torch.tensor(ends, dtype=torch.int32, device=seqs[0].device)


def varlen_attention(q, k, v, cu_seqlens, causal=True):
    up = torch.promote_types(q.dtype, torch.float32)
    keys, values, rows, ends = k.to(up), v.to(up), [], [int(e) for e in cu_seqlens]
    for a, b in zip(ends, ends[1:]):
        for t in range(a, b):
            stop = t + 1 if causal else b
            s = torch.einsum("hd,jhd->jh", q[t].to(up), keys[a:stop]) / math.sqrt(q.shape[-1])
            rows.append((torch.softmax(s, 0).unsqueeze(-1) * values[a:stop]).sum(0))
    return torch.stack(rows).to(q.dtype)
