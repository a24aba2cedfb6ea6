"""Loops over the heads in Python.
用 Python 循环逐头计算。

symptom: Right, slower with every head.
症状：结果对，但头越多越慢。

cards: head-02
rung: solved
"""
import torch


def multi_head_attention(x_q, x_kv, wq, wk, wv, wo, n_heads, mask=None, return_weights=False):
    B, T, D = x_q.shape
    d = D // n_heads
    q, k, v = x_q @ wq, x_kv @ wk, x_kv @ wv
    full = None if mask is None else mask.expand(B, n_heads, T, x_kv.shape[1])
    outs, maps = [], []
    for h in range(n_heads):
        part = slice(h * d, (h + 1) * d)
        scores = q[..., part] @ k[..., part].mT / d**0.5
        if full is None:
            weights = scores.softmax(-1)
        else:
            empty = ~full[:, h].any(-1, keepdim=True)
            scores = scores.masked_fill(~full[:, h], float("-inf")).masked_fill(empty, 0.0)
            weights = scores.softmax(-1).masked_fill(empty, 0.0)
        outs.append(weights @ v[..., part])
        maps.append(weights)
    out = torch.cat(outs, -1) @ wo
    return (out, torch.stack(maps, 1)) if return_weights else out
