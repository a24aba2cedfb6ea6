"""Heads folded into (D, H, d) weights, einsum throughout."""
import torch


def multi_head_attention(x_q, x_kv, wq, wk, wv, wo, n_heads, mask=None, return_weights=False):
    dtype, wide = x_q.dtype, torch.promote_types(x_q.dtype, torch.float32)
    x_q, x_kv, wq, wk, wv, wo = (t.to(wide) for t in (x_q, x_kv, wq, wk, wv, wo))
    D = wq.shape[0]
    d = D // n_heads
    heads = (D, n_heads, d)
    q = torch.einsum("btm,mhd->bhtd", x_q, wq.reshape(heads))
    k = torch.einsum("bsm,mhd->bhsd", x_kv, wk.reshape(heads))
    v = torch.einsum("bsm,mhd->bhsd", x_kv, wv.reshape(heads))
    logits = torch.einsum("bhtd,bhsd->bhts", q, k) * d**-0.5
    if mask is not None:
        logits = torch.where(mask, logits, torch.finfo(logits.dtype).min)
    weights = torch.softmax(logits, dim=-1)
    if mask is not None:
        weights = weights * mask.any(-1, keepdim=True)
    mixed = torch.einsum("bhts,bhsd->bthd", weights, v)
    out = torch.einsum("bthd,hdm->btm", mixed, wo.reshape(n_heads, d, D))
    return (out.to(dtype), weights.to(dtype)) if return_weights else out.to(dtype)
