"""Hides with a finite number such as −100.
用 −100 之类的有限值做掩码。

symptom: Hidden keys leak under lower visible scores.
症状：可见分数更低时，被挡的 key 漏出来。

cards: mask-03
rung: solved
"""
import torch


def wide(x):
    return x.float() if x.element_size() == 2 else x


def sliding_window_attention(q, k, v, window, n_sink=0, causal=True):
    T, d = q.shape[2:]
    w = min(window, T)
    i = torch.arange(T, device=q.device)[:, None]
    near = i + torch.arange(1 - w, 1 if causal else w, device=q.device)
    sink = torch.arange(min(n_sink, T), device=q.device).expand(T, -1)
    far = i - sink >= w if causal else (i - sink).abs() >= w
    index = torch.cat([near, sink], 1)
    seen = torch.cat([(near >= 0) & (near < T), far], 1)
    index = index.clamp(0, T - 1)
    Q, K, V = wide(q), wide(k)[:, :, index], wide(v)[:, :, index]
    s = (Q[..., None, :] * K).sum(-1) / d**0.5
    p = s.masked_fill(~seen, -100.0).softmax(-1)
    return (p[..., None] * V).sum(-2).to(q.dtype)
