"""Scales by √(H·d).
除以 √(H·d)。

symptom: More heads flatten attention.
症状：头越多，注意力越平。

cards: att-02
rung: solved
"""
import torch


def gqa(q, k, v, causal=False):
    B, H, T, d = q.shape
    G, S = k.shape[1], k.shape[2]
    if H % G:
        raise ValueError("H must be a multiple of G")
    if causal and S < T:
        raise ValueError("S must be at least T")
    dtype = q.dtype
    wide = torch.promote_types(dtype, torch.float32)
    q, k, v = q.to(wide), k.to(wide), v.to(wide)
    q = q.reshape(B, G, H // G, T, d)
    k, v = k.unsqueeze(2), v.unsqueeze(2)
    scores = q @ k.mT / (H * d) ** 0.5
    if causal:
        hidden = torch.ones(T, S, dtype=torch.bool, device=q.device).triu(S - T + 1)
        scores = scores.masked_fill(hidden, float("-inf"))
    out = scores.softmax(-1) @ v
    return out.reshape(B, H, T, d).to(dtype)
