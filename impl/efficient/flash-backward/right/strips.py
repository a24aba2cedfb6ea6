"""A strip of keys for all queries at a time; einsum."""

import torch


def flash_attention_backward(q, k, v, o, lse, do, causal=False, block=64):
    hi = torch.float64 if q.dtype == torch.float64 else torch.float32
    T, S = q.size(2), k.size(2)
    Q, dO = q.to(hi), do.to(hi)
    delta = torch.einsum("bhtd,bhtd->bht", dO, o.to(hi))
    blind = torch.isneginf(lse)
    log_norm = lse.to(hi).masked_fill(blind, 0.0)
    dq, dk, dv = torch.zeros_like(Q), [], []
    last = torch.arange(S - T, S, device=q.device)
    for j in range(0, S, block):
        kj, vj = k[:, :, j : j + block].to(hi), v[:, :, j : j + block].to(hi)
        log_p = torch.einsum("bhtd,bhsd->bhts", Q, kj) / q.size(3) ** 0.5 - log_norm[..., None]
        hidden = blind[..., None].expand_as(log_p)
        if causal:
            hidden = hidden | (torch.arange(j, j + kj.size(2), device=q.device) > last[:, None])
        p = log_p.masked_fill(hidden, -torch.inf).exp()
        dv.append(torch.einsum("bhts,bhtd->bhsd", p, dO))
        ds = p * (torch.einsum("bhtd,bhsd->bhts", dO, vj) - delta[..., None]) / q.size(3) ** 0.5
        dk.append(torch.einsum("bhts,bhtd->bhsd", ds, Q))
        dq = dq + torch.einsum("bhts,bhsd->bhtd", ds, kj)
    return dq.to(q.dtype), torch.cat(dk, 2).to(q.dtype), torch.cat(dv, 2).to(q.dtype)
