"""Flattened leading dimensions, batched products, additive mask."""
import math

import torch


def sdpa(q, k, v, mask=None, scale=None):
    lead, (T, d), S = q.shape[:-2], q.shape[-2:], k.shape[-2]
    n = math.prod(lead)
    half = q.dtype in (torch.float16, torch.bfloat16)
    a, b, c = (x.reshape(n, *x.shape[-2:]) for x in (q, k, v))
    if half:
        a, b, c = a.float(), b.float(), c.float()
    alpha = d**-0.5 if scale is None else float(scale)
    logits = torch.bmm(a * alpha, b.permute(0, 2, 1))
    if mask is not None:
        visible = mask.expand(*lead, T, S).reshape(n, T, S)
        dead = visible.logical_not().all(dim=2, keepdim=True)
        bias = torch.zeros_like(logits).masked_fill(visible.logical_not() & dead.logical_not(), -torch.inf)
        out = torch.bmm((logits + bias).softmax(dim=2), c)
        out = torch.where(dead, torch.zeros_like(out), out)
    else:
        out = torch.bmm(logits.softmax(dim=2), c)
    return out.reshape(*lead, T, v.shape[-1]).to(q.dtype)
