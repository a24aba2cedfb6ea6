"""Masks T² scores when not causal.
非因果时掩 T² 分数。

symptom: A fast decoder; the encoder runs out of memory.
症状：解码器快，编码器爆显存。

cards: sparse-02
rung: solved
"""
import torch


def wide(x):
    return x.float() if x.element_size() == 2 else x


def full(q, k, v, window, n_sink):
    i, j = torch.arange(q.shape[2], device=q.device)[:, None], torch.arange(q.shape[2], device=q.device)
    seen = ((i - j).abs() < window) | (j < n_sink)
    s = wide(q) @ wide(k).mT / q.shape[3] ** 0.5
    return (s.masked_fill(~seen, float("-inf")).softmax(-1) @ wide(v)).to(q.dtype)


def sliding_window_attention(q, k, v, window, n_sink=0, causal=True):
    if not causal:
        return full(q, k, v, window, n_sink)
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
    p = s.masked_fill(~seen, float("-inf")).softmax(-1)
    return (p[..., None] * V).sum(-2).to(q.dtype)
