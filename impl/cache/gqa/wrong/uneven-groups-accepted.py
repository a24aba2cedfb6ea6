"""Accepts H that is no multiple of G.
H 不是 G 的倍数时没报错。

symptom: A shape error, or odd sharing.
症状：报形状错误，或头分配不均。

cards: kv-10
rung: solved
"""
import torch


def gqa(q, k, v, causal=False):
    B, H, T, d = q.shape
    G, S = k.shape[1], k.shape[2]
    if causal and S < T:
        raise ValueError("S must be at least T")
    dtype = q.dtype
    wide = torch.promote_types(dtype, torch.float32)
    q, k, v = q.to(wide), k.to(wide), v.to(wide)
    group = torch.arange(H, device=q.device) * G // H
    if H % G == 0:
        q = q.reshape(B, G, H // G, T, d)
        k, v = k.unsqueeze(2), v.unsqueeze(2)
    else:
        k, v = k[:, group], v[:, group]
    scores = q @ k.mT / d**0.5
    if causal:
        hidden = torch.ones(T, S, dtype=torch.bool, device=q.device).triu(S - T + 1)
        scores = scores.masked_fill(hidden, float("-inf"))
    out = scores.softmax(-1) @ v
    return out.reshape(B, H, T, d).to(dtype)
