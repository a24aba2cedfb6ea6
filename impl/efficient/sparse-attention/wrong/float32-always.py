"""Computes and returns float32.
一律按 float32 计算并返回。

symptom: float64 loses half its digits.
症状：float64 丢掉一半有效数字。

cards: prec-07
rung: solved
"""
import torch


def wide(x):
    return x.float()


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
    p = s.masked_fill(~seen, float("-inf")).softmax(-1)
    return (p[..., None] * V).sum(-2)
