"""Multiplies by an expanded view."""
import torch


def gqa(q, k, v, causal=False):
    B, H, T, d = q.shape
    G, S = k.size(1), k.size(2)
    if H % G != 0:
        raise ValueError("uneven groups")
    if causal and S < T:
        raise ValueError("too few keys")
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    shape = (B, G, H // G, S, d)
    keys = k.to(wide).unsqueeze(2).expand(shape)
    values = v.to(wide).unsqueeze(2).expand(shape)
    queries = q.to(wide).reshape(B, G, H // G, T, d)
    scores = torch.matmul(queries, keys.transpose(3, 4)) / d**0.5
    if causal:
        hidden = torch.arange(S, device=q.device)[None] > torch.arange(S - T, S, device=q.device)[:, None]
        scores = scores.masked_fill(hidden, -torch.inf)
    return torch.matmul(torch.softmax(scores, -1), values).reshape(B, H, T, d).to(q.dtype)
