"""Computes all T² scores and masks them.
先算出 T² 个分数再屏蔽。

symptom: Right, at full attention's cost.
症状：结果对，代价和完整注意力一样。

cards: sparse-02
rung: solved
"""
import torch


def wide(x):
    return x.float() if x.element_size() == 2 else x


def sliding_window_attention(q, k, v, window, n_sink=0, causal=True):
    T, d = q.shape[2:]
    i, j = torch.arange(T, device=q.device)[:, None], torch.arange(T, device=q.device)
    seen = (i - j < window) & (j - i < (1 if causal else window))
    seen = seen | (j < n_sink) & ((j <= i) if causal else torch.ones_like(j, dtype=torch.bool))
    s = wide(q) @ wide(k).mT / d**0.5
    return (s.masked_fill(~seen, float("-inf")).softmax(-1) @ wide(v)).to(q.dtype)
