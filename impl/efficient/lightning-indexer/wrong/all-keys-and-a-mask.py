"""Scores all keys and hides those not chosen.
给全部 key 打分，再挡住没选中的。

symptom: Right values; work and memory of full attention.
症状：数值对，但计算量和显存与完整注意力一样。

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
    S = kv.shape[1]
    keep = torch.zeros(B, T, S + 1, dtype=torch.bool, device=q.device)
    keep.scatter_(2, torch.where(idx < 0, S, idx), True)
    keep = keep[..., :S]
    scores = torch.einsum("bhtd,bsd->bhts", q.to(wide), kv.to(wide)) / math.sqrt(d)
    keep = keep.unsqueeze(1)
    any_key = keep.any(-1, keepdim=True)
    scores = torch.where(keep | ~any_key, scores, -math.inf)
    weights = torch.softmax(scores, -1) * any_key
    return torch.einsum("bhts,bsd->bhtd", weights, kv.to(wide)).to(q.dtype)
