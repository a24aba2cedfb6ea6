"""Heads folded into the batch, the softmax written out."""

import torch


def unit(x, gain, eps):
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return x * gain / (length**2 / x.shape[-1] + eps).sqrt()


def qk_norm_attention(q, k, v, gq, gk, mask=None, eps=1e-6):
    if q.dtype.itemsize == 2:
        return qk_norm_attention(*(t.float() for t in (q, k, v, gq, gk)), mask, eps).to(q.dtype)
    B, H, T, d = q.shape
    a, b, c = (t.reshape(B * H, T, d) for t in (unit(q, gq, eps), unit(k, gk, eps), v))
    s = torch.baddbmm(torch.zeros(1, 1, 1, dtype=q.dtype, device=q.device), a, b.mT, beta=0, alpha=d**-0.5)
    seen = torch.ones_like(s) if mask is None else mask.expand(B, H, T, T).reshape(B * H, T, T).to(s.dtype)
    s = s.masked_fill(seen == 0, -1e30)
    e = (s - s.amax(-1, keepdim=True)).exp() * seen
    total = e.sum(-1, keepdim=True)
    return torch.bmm(e / (total + (total == 0)), c).reshape(B, H, T, d)
