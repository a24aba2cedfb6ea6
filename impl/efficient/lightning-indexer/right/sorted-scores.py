"""A full sort for the choice; take_along_dim and logsumexp for attention."""

import torch


def index_topk(q_i, k_i, w, k):
    if k_i.shape[1] < q_i.shape[1]:
        raise ValueError(f"S = {k_i.shape[1]} < T = {q_i.shape[1]}")
    (B, T, heads, _), S = q_i.shape, k_i.shape[1]
    scores = torch.zeros(B, T, S, dtype=torch.float64, device=q_i.device)
    for h in range(heads):
        dots = q_i[:, :, h].double() @ k_i.double().transpose(1, 2)
        scores = scores + w[:, :, h, None].double() * dots.clamp(min=0)
    last = torch.arange(S - T, S, device=q_i.device)[:, None]
    keys = torch.arange(S, device=q_i.device)
    order = scores.masked_fill(keys > last, -torch.inf).argsort(dim=-1, descending=True)
    order = torch.cat([order, order.new_full((B, T, max(k - S, 0)), S)], dim=-1)[..., :k]
    return torch.where(order > last, -1, order)


def sparse_mqa(q, kv, idx):
    (B, H, T, d), n = q.shape, idx.shape[-1]
    wide = torch.promote_types(torch.float32, q.dtype)
    flat = idx.clamp(min=0).reshape(B, T * n, 1)
    rows = torch.take_along_dim(kv.to(wide), flat, dim=1).view(B, T, n, d)
    scores = q.to(wide).transpose(1, 2) @ rows.transpose(2, 3) * d**-0.5
    hidden = (idx < 0).unsqueeze(2)
    scores = scores.masked_fill(hidden, -1e30)
    weights = (scores - torch.logsumexp(scores, -1, keepdim=True)).exp().masked_fill(hidden, 0)
    return (weights @ rows).transpose(1, 2).to(q.dtype)
