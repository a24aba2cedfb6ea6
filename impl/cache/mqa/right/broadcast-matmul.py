"""The textbook form: the key head broadcasts over the heads of queries."""
import math

import torch


def mqa(x, wq, wk, wv, wo, H, causal=True):
    B, T, D = x.shape
    d = wk.shape[1]
    x32 = x.double() if x.dtype == torch.float64 else x.float()
    q = (x32 @ wq.to(x32.dtype)).view(B, T, H, d).transpose(1, 2)
    k = (x32 @ wk.to(x32.dtype)).unsqueeze(1).expand(B, H, T, d)
    v = (x32 @ wv.to(x32.dtype)).unsqueeze(1).expand(B, H, T, d)
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d)
    if causal:
        mask = torch.tril(torch.ones(T, T, device=x.device)).bool()
        scores = scores.masked_fill(~mask, float("-inf"))
    out = torch.matmul(torch.softmax(scores, dim=-1), v)
    out = out.transpose(1, 2).contiguous().view(B, T, H * d)
    return (out @ wo.to(x32.dtype)).to(x.dtype)
