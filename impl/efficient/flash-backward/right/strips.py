"""All queries against one strip of keys at a time, by einsum."""

import math

import torch


def flash_attention_backward(q, k, v, o, lse, do, causal=False, block=64):
    kind = torch.float64 if q.dtype == torch.float64 else torch.float32
    Q, dO = q.to(kind) / math.sqrt(q.shape[-1]), do.to(kind)
    delta = torch.einsum("bhtd,bhtd->bht", dO, o.to(kind))
    seen = torch.isfinite(lse)
    base = torch.where(seen, lse, 0.0).to(kind)
    last = torch.arange(q.shape[2], device=q.device) + k.shape[2] - q.shape[2]
    dq, dks, dvs = 0.0, [], []
    for start in range(0, k.shape[2], min(block, 64)):
        K, V = (x[:, :, start : start + min(block, 64)].to(kind) for x in (k, v))
        s = torch.einsum("bhtd,bhsd->bhts", Q, K) - base[..., None]
        visible = seen[..., None]
        if causal:
            visible = visible & (torch.arange(start, start + K.shape[2], device=q.device) <= last[:, None])
        P = torch.where(visible, s, float("-inf")).exp()
        dS = P * (torch.einsum("bhtd,bhsd->bhts", dO, V) - delta[..., None])
        dvs.append(torch.einsum("bhts,bhtd->bhsd", P, dO))
        dks.append(torch.einsum("bhts,bhtd->bhsd", dS, Q))
        dq = dq + torch.einsum("bhts,bhsd->bhtd", dS, K)
    return tuple(x.to(q.dtype) for x in (dq / math.sqrt(q.shape[-1]), torch.cat(dks, 2), torch.cat(dvs, 2)))
