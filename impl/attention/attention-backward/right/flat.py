"""Leading dimensions folded into one, bmm, exponentials by hand."""

import torch


def sdpa_backward(q, k, v, do):
    half = q.dtype in (torch.float16, torch.bfloat16)
    flat = [t.reshape(-1, *t.shape[-2:]) for t in (q, k, v, do)]
    a, b, c, g = (t.float() if half else t for t in flat)
    s = torch.bmm(a, b.mT) / a.shape[-1] ** 0.5
    e = torch.exp(s - s.amax(-1, keepdim=True))
    p = e / e.sum(-1, keepdim=True)
    dp = torch.bmm(g, c.mT)
    weighted = p * dp
    ds = (weighted - p * weighted.sum(-1, keepdim=True)) / a.shape[-1] ** 0.5
    grads = torch.bmm(ds, b), torch.bmm(ds.mT, a), torch.bmm(p.mT, g)
    return tuple(grad.reshape(t.shape).to(t.dtype) for grad, t in zip(grads, (q, k, v)))
