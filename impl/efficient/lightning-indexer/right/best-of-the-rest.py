"""Takes the best key left k times; attends item by item of the batch."""

import math

import torch


def index_topk(q_i, k_i, w, k):
    (B, T), S = q_i.shape[:2], k_i.shape[1]
    if T > S:
        raise ValueError("more queries than keys")
    wide = torch.float64 if q_i.dtype == torch.float64 else torch.float32
    dots = torch.matmul(q_i.to(wide), k_i.to(wide).unsqueeze(1).transpose(-1, -2))
    left = torch.matmul(w.to(wide).unsqueeze(2), torch.nn.functional.relu(dots)).squeeze(2)
    hidden = torch.ones(T, S, device=q_i.device).triu(S - T + 1).bool()
    left = left.masked_fill(hidden, -math.inf)
    picks = []
    for _ in range(k):
        value, best = left.max(dim=-1)
        picks.append(torch.where(value > -math.inf, best, -1))
        left = left.scatter(-1, best.unsqueeze(-1), -math.inf)
    return torch.stack(picks, dim=-1)


def sparse_mqa(q, kv, idx):
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    out = []
    for queries, table, chosen in zip(q.to(wide), kv.to(wide), idx):
        rows = torch.nn.functional.embedding(chosen.clamp(min=0), table)
        scores = torch.einsum("htd,tnd->htn", queries, rows) / math.sqrt(q.shape[-1])
        scores = scores - scores.detach().masked_fill(chosen < 0, -1e30).amax(-1, keepdim=True)
        e = torch.where(chosen >= 0, scores, 0.0).exp() * (chosen >= 0)
        total = e.sum(-1, keepdim=True)
        out.append(torch.einsum("htn,tnd->htd", e / torch.where(total > 0, total, 1.0), rows))
    return torch.stack(out).to(q.dtype)
