"""Both gains on the query, weights by logsumexp."""

import math

import torch


def qk_norm_attention(q, k, v, gq, gk, mask=None, eps=1e-6):
    half, dtype = q.dtype in (torch.float16, torch.bfloat16), q.dtype
    q, k, v, gq, gk = (t.to(torch.float32) if half else t for t in (q, k, v, gq, gk))

    def rms(x):
        return torch.sqrt(torch.mean(x * x, dim=-1, keepdim=True) + eps)

    scores = (q / rms(q) * (gq * gk / math.sqrt(q.shape[-1]))) @ (k / rms(k)).transpose(2, 3)
    if mask is not None:
        none = ~mask.any(-1, True)
        scores = scores.masked_fill(~(mask | none), float("-inf"))
    p = (scores - torch.logsumexp(scores, -1, keepdim=True)).exp()
    if mask is not None:
        p = p.masked_fill(none, 0.0)
    return torch.matmul(p, v).to(dtype)
