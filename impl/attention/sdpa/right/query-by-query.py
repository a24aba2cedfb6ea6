"""One query at a time."""
import math

import torch


def sdpa(q, k, v, mask=None, scale=None):
    kind = q.dtype
    up = torch.float32 if q.element_size() == 2 else kind
    q, k, v = q.to(up), k.to(up), v.to(up)
    T, S = q.size(-2), k.size(-2)
    scale = 1 / math.sqrt(q.size(-1)) if scale is None else scale
    full = None if mask is None else mask.broadcast_to((*q.shape[:-1], S))
    rows = []
    for t in range(T):
        scores = (q[..., t, None, :] * k).sum(-1) * scale
        if full is not None:
            seen = full[..., t, :]
            any_seen = seen.any(-1, keepdim=True)
            scores = torch.where(seen | ~any_seen, scores, float("-inf"))
        weights = torch.softmax(scores, -1)
        if full is not None:
            weights = weights * any_seen
        rows.append((weights[..., None] * v).sum(-2))
    return torch.stack(rows, dim=-2).to(kind)
