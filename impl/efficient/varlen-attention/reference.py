"""Attention over packed sequences: concatenated without padding, each attending only within itself.

`cu_seqlens` holds 0 and the running sums of the lengths, so that sequence r lies in cu[r] … cu[r + 1] − 1. One mask over
the whole pack would hide the right pairs, but only after N² scores were computed; here each sequence has its own.
Decisions:
- the boundaries are int32, as the kernels take them, on the device of the tokens; an empty sequence repeats a number;
- causal is by place within a sequence: the first token of each sees itself alone;
- float16 and bfloat16 are computed in float32.

Krell et al. 2021, arXiv 2107.02027; the layout is that of flash_attn_varlen_func.
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
    return torch.softmax(scores, dim=-1) @ v
