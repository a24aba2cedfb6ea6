"""One query at a time over the keys that it sees."""

import torch


def flash_attention_backward(q, k, v, o, lse, do, causal=False, block=64):
    up, T, S = torch.promote_types(q.dtype, torch.float32), q.size(2), k.size(2)
    keys, values = k.to(up), v.to(up)
    scale = q.size(-1) ** -0.5
    dq = []
    dk, dv = torch.zeros_like(keys), torch.zeros_like(values)
    for t in range(T):
        stop = min(S, t + S - T + 1) if causal else S
        if stop <= 0:
            dq.append(torch.zeros_like(keys[:, :, :1]) if S else None)
            continue
        row, slope = q[:, :, t : t + 1].to(up), do[:, :, t : t + 1].to(up)
        some, vals = keys[:, :, :stop], values[:, :, :stop]
        p = torch.exp(row @ some.mT * scale - lse[:, :, t : t + 1, None].to(up))
        inner = slope @ vals.mT - (slope * o[:, :, t : t + 1].to(up)).sum(-1, keepdim=True)
        ds = p * inner * scale
        dq.append(ds @ some)
        dk[:, :, :stop] += ds.mT @ row
        dv[:, :, :stop] += p.mT @ slope
    return torch.cat(dq, 2).to(q.dtype), dk.to(q.dtype), dv.to(q.dtype)
