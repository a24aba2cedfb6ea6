"""Takes the softmax over the queries.
softmax 沿 query 那一维做。

symptom: Columns sum to 1: later tokens change the results of earlier ones.
症状：列和为 1：后面的 token 会改变前面 token 的结果。

cards: att-05
rung: solved
"""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from torch import Tensor


def pack(seqs: list[Tensor]) -> tuple[Tensor, Tensor]:
    x = torch.cat(seqs)  # (N, H, d)
    lengths = torch.tensor([0, *(len(seq) for seq in seqs)], device=x.device)
    return x, lengths.cumsum(dim=0).to(torch.int32)  # (R + 1,)


def varlen_attention(q: Tensor, k: Tensor, v: Tensor, cu_seqlens: Tensor, causal: bool = True) -> Tensor:
    wide = torch.promote_types(q.dtype, torch.float32)
    outs = []
    for start, end in pairwise(cu_seqlens.tolist()):
        heads = (tensor[start:end].to(wide).transpose(0, 1) for tensor in (q, k, v))  # (H, n, d) each
        outs.append(attention(*heads, causal).transpose(0, 1))  # (n, H, d)
    return torch.cat(outs).to(q.dtype)


def attention(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Tensor:
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (H, n, n)
    if causal:
        future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(future, -math.inf)
    return torch.softmax(scores, dim=-2) @ v
