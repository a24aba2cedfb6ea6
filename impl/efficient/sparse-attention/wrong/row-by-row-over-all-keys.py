"""Scores every key, row by row.
逐行给所有 key 打分。

symptom: Memory is fine, time is not.
症状：内存没问题，时间是平方。

cards: sparse-02
rung: solved
"""
import torch


def wide(x):
    return x.float() if x.element_size() == 2 else x


def sliding_window_attention(q, k, v, window, n_sink=0, causal=True):
    T, d = q.shape[2:]
    j, rows = torch.arange(T, device=q.device), []
    for i in range(T):
        seen = (i - j < window) & (j - i < (1 if causal else window)) | (j < n_sink) & ((j <= i) | (not causal))
        s = (wide(k) * wide(q)[:, :, i : i + 1]).sum(-1) / d**0.5
        p = s.masked_fill(~seen, float("-inf")).softmax(-1)
        rows.append((p[..., None] * wide(v)).sum(-2))
    return torch.stack(rows, 2).to(q.dtype)
