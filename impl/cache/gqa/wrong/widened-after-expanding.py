"""Expands before casting to float32.
先按头 expand，再转成 float32。

symptom: H/G copies in 16 bits.
症状：16 位下有 H/G 份拷贝。

cards: kv-12
rung: hardened
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
    q = q.reshape(B, G, H // G, T, d).to(wide)
    k, v = (t.unsqueeze(2).expand(B, G, H // G, S, d).to(wide) for t in (k, v))
    scores = q @ k.mT / d**0.5
    if causal:
        hidden = torch.ones(T, S, dtype=torch.bool, device=q.device).triu(S - T + 1)
        scores = scores.masked_fill(hidden, float("-inf"))
    out = scores.softmax(-1) @ v
    return out.reshape(B, H, T, d).to(dtype)
