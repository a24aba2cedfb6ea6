"""Einsum twice, softmax with the mask as a factor."""
import torch


def sdpa(q, k, v, mask=None, scale=None):
    inside = torch.promote_types(q.dtype, torch.float32)
    width = q.size(-1)
    factor = width**-0.5 if scale is None else scale
    s = torch.einsum("...td,...sd->...ts", q.to(inside), k.to(inside)) * factor
    if mask is None:
        visible = torch.ones_like(s)
    else:
        s = torch.where(mask, s, torch.finfo(inside).min)
        visible = mask.to(inside).expand_as(s)
    top = s.max(dim=-1, keepdim=True).values.detach()
    e = torch.exp(s - top) * visible
    total = e.sum(dim=-1, keepdim=True)
    weights = e / torch.where(total > 0, total, torch.ones_like(total))
    return torch.einsum("...ts,...sd->...td", weights, v.to(inside)).to(q.dtype)
