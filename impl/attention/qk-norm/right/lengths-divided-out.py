"""One einsum for the products: lengths divided out, both gains in one."""

import torch


def qk_norm_attention(q, k, v, gq, gk, mask=None, eps=1e-6):
    dtype, wide = q.dtype, torch.promote_types(q.dtype, torch.float32)
    q, k, v, gq, gk = (t.to(wide) for t in (q, k, v, gq, gk))
    d = q.shape[-1]
    size_q = (torch.einsum("bhtd,bhtd->bht", q, q) / d + eps) ** 0.5
    size_k = (torch.einsum("bhsd,bhsd->bhs", k, k) / d + eps) ** 0.5
    products = torch.einsum("bhtd,d,bhsd->bhts", q / size_q[..., None], gq * gk, k / size_k[..., None])
    logits = products * d**-0.5
    if mask is not None:
        logits = torch.where(mask, logits, torch.finfo(wide).min)
    weights = torch.softmax(logits, -1)
    if mask is not None:
        weights = weights * mask.any(-1, keepdim=True)
    return torch.einsum("bhts,bhsd->bhtd", weights, v).to(dtype)
