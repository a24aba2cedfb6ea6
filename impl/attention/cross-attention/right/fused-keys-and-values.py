"""One product for keys and values, softmax written out, heads folded into the batch."""

import torch


def cross_attention(x, memory, wq, wk, wv, wo, n_heads, memory_mask=None):
    (B, T, D), S, due = x.shape, memory.shape[1], x.dtype
    if due != torch.float64:
        x, memory, wq, wk, wv, wo = (t.float() for t in (x, memory, wq, wk, wv, wo))
    d = D // n_heads
    kv = (memory @ torch.cat([wk, wv], dim=1)).reshape(B, S, 2, n_heads, d)
    k, v = kv.permute(2, 0, 3, 1, 4).reshape(2, B * n_heads, S, d)
    q = (x @ wq).reshape(B, T, n_heads, d).swapaxes(1, 2).reshape(B * n_heads, T, d)
    z = torch.bmm(q, k.mT).mul(d**-0.5)
    real = torch.ones(B, S, dtype=torch.bool, device=x.device) if memory_mask is None else memory_mask
    real = real.repeat_interleave(n_heads, 0).unsqueeze(1)
    z = z.masked_fill(~real, -1e30)
    e = (z - z.amax(-1, keepdim=True)).exp() * real
    total = e.sum(-1, keepdim=True)
    p = e / (total + (total == 0))
    y = torch.bmm(p, v).reshape(B, n_heads, T, d).swapaxes(1, 2).reshape(B, T, D)
    return torch.matmul(y, wo).to(due)
