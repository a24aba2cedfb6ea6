"""Lets head h read group h % G.
第 h 个头读了第 h % G 组。

symptom: Right for G = 1 and G = H alone.
症状：只有 G = 1 或 G = H 时才对。

cards: kv-10
rung: solved
"""

import torch


def sink_attention(q, k, v, sink, window=None):
    B, H, T, d = q.shape
    G, S = k.shape[1], k.shape[2]
    if S < T:
        raise ValueError("more queries than keys")
    wide = torch.promote_types(q.dtype, torch.float32)
    q, k, v, s0 = q.to(wide), k.to(wide), v.to(wide), sink.to(wide)
    grouped = q.reshape(B, H // G, G, T, d).transpose(1, 2)
    scores = grouped @ k.unsqueeze(2).mT / d**0.5
    p = torch.arange(T, device=q.device)[:, None] + S - T
    j = torch.arange(S, device=q.device)
    hidden = j > p
    if window is not None:
        hidden = hidden | (j <= p - window)
    scores = scores.masked_fill(hidden, float("-inf"))
    column = s0.view(1, H // G, G, 1, 1).transpose(1, 2).expand(B, -1, -1, T, 1)
    weights = torch.cat([scores, column], -1).softmax(-1)[..., :-1]
    return (weights @ v.unsqueeze(2)).transpose(1, 2).reshape(B, H, T, d).to(sink.dtype)
