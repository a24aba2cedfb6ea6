"""Lets every head work on the full width.
每个头都在整个宽度上计算。

symptom: Right, at H times the FLOPs.
症状：结果对，FLOPs 是 H 倍。

cards: head-02
rung: solved
"""
import torch


def multi_head_attention(x_q, x_kv, wq, wk, wv, wo, n_heads, mask=None, return_weights=False):
    B, T, D = x_q.shape
    d = D // n_heads
    head = torch.arange(D, device=x_q.device) // d
    own = (head == torch.arange(n_heads, device=x_q.device)[:, None]).to(x_q.dtype)
    q = (x_q @ wq)[:, None] * own[:, None, :]
    k = (x_kv @ wk)[:, None] * own[:, None, :]
    v = (x_kv @ wv)[:, None] * own[:, None, :]
    scores = q @ k.mT / d**0.5
    if mask is None:
        weights = scores.softmax(-1)
    else:
        empty = ~mask.any(-1, keepdim=True)
        scores = scores.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
        weights = scores.softmax(-1).masked_fill(empty, 0.0)
    out = (weights @ v).sum(1) @ wo
    return (out, weights) if return_weights else out
