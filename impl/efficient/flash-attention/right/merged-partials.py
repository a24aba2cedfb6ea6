"""Normalised partials, merged by logaddexp."""
import torch


def partial(q, k, v, hidden):
    s = q @ k.mT
    if hidden is not None:
        s = s.masked_fill(hidden, -torch.inf)
    m = s.detach().amax(-1, keepdim=True)
    m = torch.where(torch.isneginf(m), 0.0, m)
    e = (s - m).exp()
    z = e.sum(-1, keepdim=True)
    dead = z == 0
    z = z + dead
    return e @ v / z, torch.where(dead, -torch.inf, m + z.log())


def merge(a, b):
    (x, s), (y, t) = a, b
    top = torch.maximum(s, t).detach()
    top = torch.where(torch.isneginf(top), 0.0, top)
    p, r = (s - top).exp(), (t - top).exp()
    z = p + r
    dead = z == 0
    z = z + dead
    return (x * p + y * r) / z, torch.where(dead, -torch.inf, top + z.log())


def flash_attention(q, k, v, block_q=64, block_k=64, causal=False):
    dtype, T, S = q.dtype, q.shape[2], k.shape[2]
    work = dtype if dtype in (torch.float32, torch.float64) else torch.float32
    q, k, v = (x.to(work) for x in (q, k, v))
    q = q * q.shape[-1] ** -0.5
    outs, lses = [], []
    for i in range(0, T, block_q):
        rows = torch.arange(i, min(i + block_q, T), device=q.device)[:, None] + (S - T)
        a = q[:, :, i : i + block_q]
        state = torch.zeros_like(a), a.new_full((*a.shape[:3], 1), -torch.inf)
        last = min(S, i + len(rows) + S - T) if causal else S
        for j in range(0, max(last, 0), block_k):
            stop = min(j + block_k, last)
            cols = torch.arange(j, stop, device=q.device)
            hidden = cols > rows if causal else None
            state = merge(state, partial(a, k[:, :, j:stop], v[:, :, j:stop], hidden))
        outs.append(state[0])
        lses.append(state[1][..., 0])
    return torch.cat(outs, 2).to(dtype), torch.cat(lses, 2).to(dtype)
