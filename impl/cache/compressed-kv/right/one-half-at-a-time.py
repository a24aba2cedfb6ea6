"""Two halves with their own sums, joined by their log-sum-exp."""

import torch


def _pooled(values, scores):
    lse = scores.logsumexp(dim=2)
    return ((scores - lse.unsqueeze(2)).exp() * values).sum(2), lse


def compress_kv(kv, gate, bias, m, overlap):
    hi = torch.float64 if kv.dtype == torch.float64 else torch.float32
    n = kv.size(1) // m
    shape = (kv.size(0), n, m, kv.size(2))
    v = kv.narrow(1, 0, n * m).to(hi).reshape(shape)
    s = (gate.narrow(1, 0, n * m).to(hi).reshape(shape) + bias.to(hi)[None, None])
    if not overlap:
        return _pooled(v, s)[0].to(kv.dtype)
    half = kv.size(2) // 2
    own, own_lse = _pooled(v[..., half:], s[..., half:])
    if n < 2:
        return own.to(kv.dtype)
    before, before_lse = _pooled(v[:, :-1, :, :half], s[:, :-1, :, :half])
    share = torch.sigmoid(own_lse[:, 1:] - before_lse)
    later = share * own[:, 1:] + (1 - share) * before
    return torch.cat([own[:, :1], later], 1).to(kv.dtype)


def block_visible(T, n, m, start=0):
    seen = torch.div(torch.arange(T) + start + 1, m, rounding_mode="floor")
    return seen.unsqueeze(1).gt(torch.arange(n).unsqueeze(0))
