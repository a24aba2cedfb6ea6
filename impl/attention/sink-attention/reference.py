"""Attention with a learned sink: each head may send weight nowhere.

    out_i = Σ_j exp(s_ij) v_j / (exp(sink_h) + Σ_j exp(s_ij))

Softmax weights sum to 1 over the visible keys even where none of them matters; models then put them on the first tokens. The
sink is a score without a value: its share of the weight adds nothing to the output. Decisions:
- the sink is a logit, compared with the scaled scores, and not scaled itself;
- it takes part in the maximum that is subtracted: exp(sink) alone may overflow;
- consecutive query heads share a head of keys and values, but each query head has its own sink;
- a window counts keys, the query's own included; the sink is not a key. Causal is aligned bottom-right;
- float16 and bfloat16 are computed in float32.

gpt-oss model card, arXiv 2508.10925; Xiao et al. 2023, arXiv 2309.17453.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def sink_attention(q: Tensor, k: Tensor, v: Tensor, sink: Tensor, window: int | None = None) -> Tensor:
    B, H, T, d = q.shape
    G, S = k.shape[1], k.shape[2]
    if S < T:
        raise ValueError(f"sink_attention: {T} causal queries cannot be the last positions of {S} keys")
    wide = torch.promote_types(q.dtype, torch.float32)
    grouped = q.to(wide).reshape(B, G, H // G, T, d)
    scores = grouped @ k.to(wide)[:, :, None].transpose(-2, -1) / math.sqrt(d)  # (B, G, H/G, T, S)

    position = torch.arange(T, device=q.device)[:, None] + S - T  # (T, 1)
    key = torch.arange(S, device=q.device)
    hidden = key > position  # (T, S)
    if window is not None:
        hidden = hidden | (key <= position - window)
    scores = scores.masked_fill(hidden, -math.inf)

    nowhere = sink.to(wide).reshape(G, H // G, 1, 1)
    top = torch.maximum(scores.amax(dim=-1, keepdim=True), nowhere).detach()  # (B, G, H/G, T, 1)
    weights = torch.exp(scores - top)
    total = weights.sum(dim=-1, keepdim=True) + torch.exp(nowhere - top)
    out = weights / total @ v.to(wide)[:, :, None]  # (B, G, H/G, T, d)
    return out.reshape(B, H, T, d).to(q.dtype)
