"""Multiplies values by slices of wo first and adds up the heads."""
import math

import torch
import torch.nn.functional as F


def multi_head_attention(x_q, x_kv, wq, wk, wv, wo, n_heads, mask=None, return_weights=False):
    narrow, d = x_q.dtype in (torch.float16, torch.bfloat16), wq.shape[1] // n_heads
    dtype = x_q.dtype
    if narrow:
        x_q, x_kv, wq, wk, wv, wo = [t.to(torch.float32) for t in (x_q, x_kv, wq, wk, wv, wo)]
    q = (x_q @ wq).unflatten(-1, (n_heads, d)).movedim(-2, 1)
    k = (x_kv @ wk).unflatten(-1, (n_heads, d)).movedim(-2, 1)
    v = (x_kv @ wv).unflatten(-1, (n_heads, d)).movedim(-2, 1)
    scores = (q / math.sqrt(d)) @ k.transpose(2, 3)
    if mask is None:
        weights = F.softmax(scores, dim=3)
    else:
        bias = scores.new_zeros(mask.shape).masked_fill(~mask & mask.any(-1, keepdim=True), float("-inf"))
        weights = F.softmax(scores + bias, dim=3) * mask.any(-1, keepdim=True)
    mixed = weights @ v
    out = (mixed @ wo.unflatten(0, (n_heads, d))).sum(dim=1)
    if narrow:
        out, weights = out.to(dtype), weights.to(dtype)
    return (out, weights) if return_weights else out
