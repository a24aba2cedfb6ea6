"""A sum over queries, one by one."""

import torch


def induction_score(attn, period):
    T = attn.size(-1)
    total = torch.zeros(attn.shape[:2], dtype=torch.promote_types(attn.dtype, torch.float32), device=attn.device)
    for query in range(period, T):
        total = total + attn[:, :, query, query + 1 - period]
    return (total / (T - period)).to(attn.dtype)
