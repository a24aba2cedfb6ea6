"""Sinkhorn on logarithms; the streams mixed by matrix products."""

import torch


def sinkhorn(logits, iters=20):
    log_p = logits if logits.dtype == torch.float64 else logits.float()
    for _ in range(iters):
        log_p = log_p - torch.logsumexp(log_p, dim=-1, keepdim=True)
        log_p = log_p - torch.logsumexp(log_p, dim=-2, keepdim=True)
    return torch.exp(log_p).to(logits.dtype)


def mhc_step(x, pre, post, comb, f):
    hi = torch.float64 if x.dtype == torch.float64 else torch.float32
    h = (pre.to(hi).unsqueeze(-2) @ x.to(hi)).squeeze(-2)
    y = f(h.to(x.dtype))
    out = comb.to(hi) @ x.to(hi) + post.to(hi).unsqueeze(-1) @ y.to(hi).unsqueeze(-2)
    return out.to(x.dtype)
