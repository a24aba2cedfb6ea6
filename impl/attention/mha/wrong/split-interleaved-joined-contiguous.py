"""Makes a head of every H-th component, and joins the heads side by side.
每隔 H 个分量取一个凑成一个头，合并时却首尾相接。

symptom: Heads see the wrong components, and wo gets them in another order.
症状：每个头看错了分量，交给 wo 的顺序也变了。

cards: head-18, head-11
rung: solved
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def multi_head_attention(
    x_q: Tensor,
    x_kv: Tensor,
    wq: Tensor,
    wk: Tensor,
    wv: Tensor,
    wo: Tensor,
    n_heads: int,
    mask: Tensor | None = None,
    return_weights: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    dtype = x_q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x_q, x_kv, wq, wk, wv, wo = (t.float() for t in (x_q, x_kv, wq, wk, wv, wo))
    q = split_heads(x_q @ wq, n_heads)  # (B, H, T, d)
    k = split_heads(x_kv @ wk, n_heads)  # (B, H, S, d)
    v = split_heads(x_kv @ wv, n_heads)  # (B, H, S, d)

    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
    weights = masked_softmax(scores, mask)

    out = (merge_heads(weights @ v) @ wo).to(dtype)  # (B, T, D)
    return (out, weights.to(dtype)) if return_weights else out


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    B, T, D = x.shape
    return x.reshape(B, T, D // n_heads, n_heads).permute(0, 3, 1, 2)  # (B, H, T, d)


def merge_heads(x: Tensor) -> Tensor:
    B, H, T, d = x.shape
    return x.transpose(1, 2).reshape(B, T, H * d)  # (B, T, D)


def masked_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is None:
        return torch.softmax(scores, dim=-1)
    empty = ~mask.any(dim=-1, keepdim=True)  # queries without a key
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return torch.softmax(scores, dim=-1).masked_fill(empty, 0.0)
