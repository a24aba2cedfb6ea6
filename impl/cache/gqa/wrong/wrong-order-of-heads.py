"""Head h reads group h % G.
第 h 个头读第 h % G 组。

symptom: Right for G = 1 and G = H only.
症状：G = 1 和 G = H 时才对。

cards: kv-12
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
    q = q.reshape(B, H // G, G, T, d)
    k, v = k.unsqueeze(1), v.unsqueeze(1)
    scores = q @ k.mT / d**0.5
    if causal:
        hidden = torch.ones(T, S, dtype=torch.bool, device=q.device).triu(S - T + 1)
        scores = scores.masked_fill(hidden, float("-inf"))
    out = scores.softmax(-1) @ v
    return out.reshape(B, H, T, d).to(dtype)
