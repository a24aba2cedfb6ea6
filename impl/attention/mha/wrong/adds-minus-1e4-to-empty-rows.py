"""Adds −1e4 to hidden scores, as BERT does, in empty rows too.
像 BERT 那样给被挡的分数加 −1e4，全挡的行也这样处理。

symptom: A query that may see nothing attends as if nothing were hidden.
症状：什么都看不到的 query，反而像没有掩码一样去看所有 key。

cards: mask-05, mask-03
rung: solved
"""

import torch


def multi_head_attention(x_q, x_kv, wq, wk, wv, wo, n_heads, mask=None, return_weights=False):
    dtype = x_q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        x_q, x_kv, wq, wk, wv, wo = (t.float() for t in (x_q, x_kv, wq, wk, wv, wo))
    B, T, D = x_q.shape
    S, d = x_kv.shape[1], D // n_heads
    q = (x_q @ wq).view(B, T, n_heads, d).transpose(1, 2)
    k = (x_kv @ wk).view(B, S, n_heads, d).transpose(1, 2)
    v = (x_kv @ wv).view(B, S, n_heads, d).transpose(1, 2)
    scores = q @ k.mT / d**0.5
    if mask is not None:
        scores = scores + (1.0 - mask.to(scores.dtype)) * -1e4
    weights = scores.softmax(-1)
    out = ((weights @ v).transpose(1, 2).reshape(B, T, D) @ wo).to(dtype)
    return (out, weights.to(dtype)) if return_weights else out
