"""The transposed score matrix, filled with the smallest finite number."""
import torch
import torch.nn.functional as F


def sdpa(q, k, v, mask=None, scale=None):
    out_dtype = q.dtype
    wide = torch.float64 if out_dtype == torch.float64 else torch.float32
    q, k, v = (x.to(wide) for x in (q, k, v))
    s = torch.matmul(k, q.mT) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if mask is None:
        return torch.matmul(F.softmax(s, dim=-2).mT, v).to(out_dtype)
    m = torch.broadcast_to(mask, (*q.shape[:-1], k.shape[-2])).mT
    p = F.softmax(s.masked_fill(~m, torch.finfo(wide).min), dim=-2) * m
    return torch.matmul(p.mT, v).to(out_dtype)
