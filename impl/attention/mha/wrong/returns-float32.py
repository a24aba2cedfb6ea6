"""Returns float32 for 16-bit inputs.
16 位输入返回 float32。

symptom: The next layer meets a dtype that it does not expect, at twice the memory.
症状：下一层收到意料之外的 dtype，内存也多一倍。

cards: prec-07
rung: hardened
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
    if x_q.dtype in (torch.float16, torch.bfloat16):
        x_q, x_kv, wq, wk, wv, wo = (t.float() for t in (x_q, x_kv, wq, wk, wv, wo))
    q = split_heads(x_q @ wq, n_heads)  # (B, H, T, d)
    k = split_heads(x_kv @ wk, n_heads)  # (B, H, S, d)
    v = split_heads(x_kv @ wv, n_heads)  # (B, H, S, d)

    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
    weights = masked_softmax(scores, mask)

    out = merge_heads(weights @ v) @ wo  # (B, T, D)
    return (out, weights) if return_weights else out


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    B, T, D = x.shape
    return x.reshape(B, T, n_heads, D // n_heads).transpose(1, 2)  # (B, H, T, d)


def merge_heads(x: Tensor) -> Tensor:
    B, H, T, d = x.shape
    return x.transpose(1, 2).reshape(B, T, H * d)  # (B, T, D)


def masked_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is None:
        return torch.softmax(scores, dim=-1)
    empty = ~mask.any(dim=-1, keepdim=True)  # queries without a key
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    return torch.softmax(scores, dim=-1).masked_fill(empty, 0.0)
