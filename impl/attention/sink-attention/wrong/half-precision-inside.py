"""Computes in 16 bits.
直接用 16 位计算。

symptom: Scores beyond 65504 make NaN in float16; close ones tie in bfloat16.
症状：float16 里分数超过 65504 成 NaN；bfloat16 里相近的打平。

cards: prec-07
rung: hardened
"""

import torch


def sink_attention(q, k, v, sink, window=None):
    B, H, T, d = q.shape
    G, S = k.shape[1], k.shape[2]
    if S < T:
        raise ValueError("more queries than keys")
    wide = q.dtype
    q, k, v, s0 = q.to(wide), k.to(wide), v.to(wide), sink.to(wide)
    grouped = q.reshape(B, G, H // G, T, d)
    scores = grouped @ k.unsqueeze(2).mT / d**0.5
    p = torch.arange(T, device=q.device)[:, None] + S - T
    j = torch.arange(S, device=q.device)
    hidden = j > p
    if window is not None:
        hidden = hidden | (j <= p - window)
    scores = scores.masked_fill(hidden, float("-inf"))
    column = s0.view(1, G, H // G, 1, 1).expand(B, -1, -1, T, 1)
    weights = torch.cat([scores, column], -1).softmax(-1)[..., :-1]
    return (weights @ v.unsqueeze(2)).reshape(B, H, T, d).to(sink.dtype)
