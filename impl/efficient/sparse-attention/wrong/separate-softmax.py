"""Takes separate softmaxes for window and sinks.
窗口和 sink 各做了一个 softmax。

symptom: Sinks always weigh half.
症状：sink 总占一半权重。

cards: sparse-04
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
    s, n = s.masked_fill(~seen, float("-inf")), near.shape[1]
    p = torch.cat([s[..., :n].softmax(-1), s[..., n:].softmax(-1).nan_to_num()], -1)
    p = p / p.sum(-1, keepdim=True)
    return (p[..., None] * V).sum(-2).to(q.dtype)
