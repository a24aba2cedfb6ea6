"""Aligns the causal mask top-left.
因果掩码左上对齐。

symptom: Decoding with a cache sees the first key only.
症状：带缓存解码只看到第一个 key。

cards: mask-08
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
    if causal:
        hidden = torch.ones(T, S, dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(hidden, float("-inf"))
    out = scores.softmax(-1) @ v
    return out.reshape(B, H, T, d).to(dtype)
