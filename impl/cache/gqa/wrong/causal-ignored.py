"""Ignores causal.
不理会 causal。

symptom: Queries see the future.
症状：query 看到未来。

cards: mask-09
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
    scores = q @ k.mT / d**0.5
    out = scores.softmax(-1) @ v
    return out.reshape(B, H, T, d).to(dtype)
