"""Loops over the heads under a mask.
有掩码时逐头循环。

symptom: Kernel launches grow with H.
症状：kernel 启动次数随 H 增长。

cards: head-03
rung: solved
"""

from __future__ import annotations

import math

import torch


def multi_head_attention(x_q, x_kv, wq, wk, wv, wo, n_heads, mask=None, return_weights=False):
    B, T, D = x_q.shape
    S, H, d = x_kv.shape[1], n_heads, D // n_heads
    q = (x_q @ wq).reshape(B, T, H, d).transpose(1, 2)
    k = (x_kv @ wk).reshape(B, S, H, d).transpose(1, 2)
    v = (x_kv @ wv).reshape(B, S, H, d).transpose(1, 2)
    scores = q @ k.transpose(-2, -1) / math.sqrt(d)
    if mask is None:
        weights = torch.softmax(scores, -1)
    else:
        empty = ~mask.any(-1, keepdim=True)
        scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
        scores = torch.stack([s.clone() for s in scores.unbind(1)], 1)
        weights = torch.softmax(scores, -1).masked_fill(empty, 0.0)
    out = (weights @ v).transpose(1, 2).reshape(B, T, D) @ wo
    return (out, weights) if return_weights else out
