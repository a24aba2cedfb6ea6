"""Softmax over −∞ alone in rows without entries.
没有有效项的行，在全 −∞ 上做 softmax。

symptom: NaN in these rows, and in the gradient of key 0, which stands in for −1.
症状：这些行变成 NaN；代替 −1 的第 0 个 key，梯度也是 NaN。

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
    keep = idx >= 0
    rows = kv.to(wide)[torch.arange(B, device=q.device)[:, None, None], idx.clamp(min=0)]
    scores = torch.einsum("bhtd,btnd->bhtn", q.to(wide), rows) / math.sqrt(d)
    keep = keep.unsqueeze(1)
    any_key = keep.any(-1, keepdim=True)
    scores = torch.where(keep, scores, -math.inf)
    weights = torch.softmax(scores, -1) * any_key
    return torch.einsum("bhtn,btnd->bhtd", weights, rows).to(q.dtype)
