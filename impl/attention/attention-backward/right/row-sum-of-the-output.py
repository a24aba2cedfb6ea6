"""The row sum from do ∘ o, the scale once in dS."""

import torch


def sdpa_backward(q, k, v, do):
    dtype = q.dtype
    if dtype in (torch.float16, torch.bfloat16):
        q, k, v, do = q.float(), k.float(), v.float(), do.float()
    scale = q.shape[-1] ** -0.5
    p = torch.softmax(q @ k.mT * scale, dim=-1)
    due = (do * (p @ v)).sum(-1, keepdim=True)
    ds = p * (do @ v.mT - due) * scale
    return (ds @ k).to(dtype), (ds.mT @ q).to(dtype), (p.mT @ do).to(dtype)
