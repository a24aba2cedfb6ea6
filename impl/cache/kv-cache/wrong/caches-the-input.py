"""Caches x and projects it all again.
缓存 x，每步全部重新投影。

symptom: Right outputs; every step is a full pass.
症状：输出对，但每步都是完整前向。

cards: kv-01
rung: solved
"""
import torch


def split(x, n):
    B, T, D = x.shape
    return x.view(B, T, n, D // n).transpose(1, 2)


def full(x, params, n_heads):
    q, k, v = (split(x @ params[w], n_heads) for w in ("wq", "wk", "wv"))
    hidden = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
    s = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(hidden, float("-inf"))
    return (s.softmax(-1) @ v).transpose(1, 2).flatten(2) @ params["wo"]


def prefill(x, params, n_heads):
    return full(x, params, n_heads), {"x": x.clone()}


def decode_step(x_t, cache, params, n_heads):
    x = torch.cat([cache["x"], x_t], 1) if cache else x_t.clone()
    return full(x, params, n_heads)[:, -1:].clone(), {"x": x}
