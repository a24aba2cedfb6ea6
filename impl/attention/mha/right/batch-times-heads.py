"""Heads folded into the batch, three-dimensional products."""
import torch


def fold(x, n_heads):
    B, L, D = x.shape
    return x.view(B, L, n_heads, D // n_heads).permute(0, 2, 1, 3).contiguous().view(B * n_heads, L, D // n_heads)


def multi_head_attention(x_q, x_kv, wq, wk, wv, wo, n_heads, mask=None, return_weights=False):
    dtype = x_q.dtype
    if dtype.itemsize == 2:
        x_q, x_kv, wq, wk, wv, wo = (t.float() for t in (x_q, x_kv, wq, wk, wv, wo))
    B, T, D = x_q.shape
    S = x_kv.size(1)
    q = fold(torch.matmul(x_q, wq).contiguous(), n_heads) * (D / n_heads) ** -0.5
    k = fold(torch.matmul(x_kv, wk).contiguous(), n_heads)
    v = fold(torch.matmul(x_kv, wv).contiguous(), n_heads)
    s = torch.bmm(q, k.transpose(1, 2))
    if mask is not None:
        m = mask.expand(B, n_heads, T, S).reshape(B * n_heads, T, S)
        alive = m.any(2, keepdim=True)
        s = s.masked_fill(m.logical_not() & alive, -torch.inf)
    e = torch.exp(s - s.amax(2, keepdim=True))
    p = e / e.sum(2, keepdim=True)
    if mask is not None:
        p = p * alive
    y = torch.bmm(p, v).view(B, n_heads, T, D // n_heads)
    y = torch.cat(y.unbind(1), dim=2) if n_heads == 1 else y.permute(0, 2, 1, 3).flatten(2)
    y = (y @ wo).to(dtype)
    if return_weights:
        return y, p.view(B, n_heads, T, S).to(dtype)
    return y
