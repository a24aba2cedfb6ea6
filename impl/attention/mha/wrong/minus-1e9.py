"""Masks with a finite number such as −1e9, not with −∞.
用 −1e9 之类的有限值做掩码，没有用 −∞。

symptom: A query that may see nothing returns the mean value.
症状：什么都看不到的 query 返回所有 value 的平均。

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
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(-1)
    out = ((weights @ v).transpose(1, 2).reshape(B, T, D) @ wo).to(dtype)
    return (out, weights.to(dtype)) if return_weights else out
