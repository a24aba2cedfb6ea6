"""Counts −1 as key 0.
把 −1 当成第 0 个 key。

symptom: The first token gains weight in short rows.
症状：没填满的行里，第一个 token 的权重变大。

cards: sparse-06
rung: solved
"""

import math

import torch


def index_topk(q_i, k_i, w, k):
    B, T, _, _ = q_i.shape
    S = k_i.shape[1]
    if S < T:
        raise ValueError("fewer keys than queries")
    wide = torch.promote_types(q_i.dtype, torch.float32)
    dots = torch.einsum("bthd,bsd->bths", q_i.to(wide), k_i.to(wide))
    scores = (w.to(wide).unsqueeze(-1) * torch.relu(dots)).sum(2)
    visible = torch.ones(T, S, dtype=torch.bool, device=q_i.device).tril(S - T)
    scores = scores.masked_fill(~visible, -math.inf)
    values, found = scores.topk(min(k, S), dim=-1)
    out = torch.full((B, T, k), -1, dtype=torch.long, device=q_i.device)
    out[..., : found.shape[-1]] = torch.where(values == -math.inf, -1, found)
    return out


def sparse_mqa(q, kv, idx):
    B, H, T, d = q.shape
    wide = torch.promote_types(q.dtype, torch.float32)
    keep = idx >= -1
    rows = kv.to(wide)[torch.arange(B, device=q.device)[:, None, None], idx.clamp(min=0)]
    scores = torch.einsum("bhtd,btnd->bhtn", q.to(wide), rows) / math.sqrt(d)
    keep = keep.unsqueeze(1)
    any_key = keep.any(-1, keepdim=True)
    scores = torch.where(keep | ~any_key, scores, -math.inf)
    weights = torch.softmax(scores, -1) * any_key
    return torch.einsum("bhtn,btnd->bhtd", weights, rows).to(q.dtype)
