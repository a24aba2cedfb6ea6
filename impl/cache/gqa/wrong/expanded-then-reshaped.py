"""Reshapes expanded K and V, which copies.
expand 之后 reshape，等于复制。

symptom: Right, with H/G copies.
症状：结果对，但有 H/G 份拷贝。

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
    k = k[:, :, None].expand(B, G, H // G, S, d).reshape(B, H, S, d)
    v = v[:, :, None].expand(B, G, H // G, S, d).reshape(B, H, S, d)
    scores = q @ k.mT / d**0.5
    if causal:
        hidden = torch.ones(T, S, dtype=torch.bool, device=q.device).triu(S - T + 1)
        scores = scores.masked_fill(hidden, float("-inf"))
    out = scores.softmax(-1) @ v
    return out.reshape(B, H, T, d).to(dtype)
