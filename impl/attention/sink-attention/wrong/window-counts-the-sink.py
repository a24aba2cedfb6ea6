"""Counts the sink as one of the window's keys.
把 sink 算作窗口里的一个 key。

symptom: Every query sees a key less; at window = 1 none but the sink.
症状：每个 query 少看一个 key；window = 1 时只剩 sink。

cards: sparse-03, sparse-04
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
    grouped = q.reshape(B, G, H // G, T, d)
    scores = grouped @ k.unsqueeze(2).mT / d**0.5
    p = torch.arange(T, device=q.device)[:, None] + S - T
    j = torch.arange(S, device=q.device)
    hidden = j > p
    if window is not None:
        hidden = hidden | (j <= p - window + 1)
    scores = scores.masked_fill(hidden, float("-inf"))
    column = s0.view(1, G, H // G, 1, 1).expand(B, -1, -1, T, 1)
    weights = torch.cat([scores, column], -1).softmax(-1)[..., :-1]
    return (weights @ v.unsqueeze(2)).reshape(B, H, T, d).to(sink.dtype)
