"""The keys travel; each rank merges (output, lse) pairs."""

import math

import torch


def partial(q, k, v, diagonal):
    s = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(q.shape[-1])
    if diagonal:
        i = torch.arange(s.shape[-1], device=s.device)
        s = torch.where(i[:, None] >= i, s, float("-inf"))
    lse = torch.logsumexp(s, -1, keepdim=True)
    return torch.einsum("bhij,bhjd->bhid", torch.exp(s - lse), v), lse


def ring_attention(q_chunks, k_chunks, v_chunks, causal):
    P, dtype = len(q_chunks), q_chunks[0].dtype
    up = torch.float64 if dtype == torch.float64 else torch.float32
    held = [None] * P
    travelling = [(p, k_chunks[p], v_chunks[p]) for p in range(P)]
    for _ in range(P):
        for r, (origin, k, v) in enumerate(travelling):
            if causal and origin > r:
                continue
            out, lse = partial(q_chunks[r].to(up), k.to(up), v.to(up), causal and origin == r)
            if held[r] is not None:
                before, lse_before = held[r]
                total = torch.logaddexp(lse, lse_before)
                out, lse = out * torch.exp(lse - total) + before * torch.exp(lse_before - total), total
            held[r] = out, lse
        travelling = travelling[-1:] + travelling[:-1]
    return [out.to(dtype) for out, _ in held]
