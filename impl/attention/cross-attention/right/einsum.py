"""Heads folded into the weights, einsum throughout."""

import torch


def cross_attention(x, memory, wq, wk, wv, wo, n_heads, memory_mask=None):
    dtype, wide = x.dtype, torch.promote_types(x.dtype, torch.float32)
    x, memory, wq, wk, wv, wo = (t.to(wide) for t in (x, memory, wq, wk, wv, wo))
    D, d = wq.shape[0], wq.shape[0] // n_heads
    q = torch.einsum("btm,mhd->bhtd", x, wq.reshape(D, n_heads, d))
    k = torch.einsum("bsm,mhd->bhsd", memory, wk.reshape(-1, n_heads, d))
    v = torch.einsum("bsm,mhd->bhsd", memory, wv.reshape(-1, n_heads, d))
    logits = torch.einsum("bhtd,bhsd->bhts", q, k) * d**-0.5
    if memory_mask is not None:
        real = memory_mask[:, None, None]
        logits = torch.where(real, logits, torch.finfo(wide).min)
    weights = torch.softmax(logits, dim=-1)
    if memory_mask is not None:
        weights = weights * real.any(-1, keepdim=True)
    return torch.einsum("bhts,bhsd,hdm->btm", weights, v, wo.reshape(n_heads, d, D)).to(dtype)
