"""One product for keys and values, softmax written out."""
import torch


def multi_head_attention(x_q, x_kv, wq, wk, wv, wo, n_heads, mask=None, return_weights=False):
    (B, T, D), S, due = x_q.shape, x_kv.shape[1], x_q.dtype
    if due != torch.float64:
        x_q, x_kv, wq, wk, wv, wo = (t.float() for t in (x_q, x_kv, wq, wk, wv, wo))
    d = D // n_heads
    kv = (x_kv @ torch.cat([wk, wv], dim=1)).reshape(B, S, 2, n_heads, d)
    k, v = kv.permute(2, 0, 3, 1, 4)
    q = (x_q @ wq).reshape(B, T, n_heads, d).swapaxes(1, 2)
    z = torch.matmul(q, k.mT).mul(1 / d**0.5)
    visible = torch.ones_like(z) if mask is None else mask.to(z.dtype).expand_as(z)
    z = z.masked_fill(visible == 0, -1e30)
    e = (z - z.max(-1, keepdim=True).values).exp() * visible
    total = e.sum(-1, keepdim=True)
    p = e / (total + (total == 0))
    y = torch.matmul(p, v).swapaxes(1, 2).reshape(B, T, D).matmul(wo)
    return (y.to(due), p.to(due)) if return_weights else y.to(due)
