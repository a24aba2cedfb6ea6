"""Sinkhorn by the vectors that scale rows and columns, in float64; streams one by one."""

import torch


def sinkhorn(logits, iters=20):
    K = torch.softmax(logits.double(), dim=-1)  # each row scaled once: the same matrix after the first division
    u = torch.ones_like(K[..., :1])
    v = torch.ones_like(K[..., :1, :])
    for _ in range(iters):
        u = 1 / (K * v).sum(-1, keepdim=True)
        v = 1 / (K * u).sum(-2, keepdim=True)
    return (u * K * v).to(logits.dtype)


def mhc_step(x, pre, post, comb, f):
    wide = torch.promote_types(x.dtype, torch.float32)
    streams = [stream.to(wide) for stream in x.unbind(2)]
    weights = pre.to(wide).unbind(2)
    h = sum(weight.unsqueeze(-1) * stream for weight, stream in zip(weights, streams))
    y = f(h.to(x.dtype)).to(wide)
    out = []
    for row, gain in zip(comb.to(wide).unbind(2), post.to(wide).unbind(2)):
        mixed = sum(c.unsqueeze(-1) * stream for c, stream in zip(row.unbind(2), streams))
        out.append(mixed + gain.unsqueeze(-1) * y)
    return torch.stack(out, dim=2).to(x.dtype)
