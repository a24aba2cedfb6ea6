"""Shares one global buffer.
所有序列共用一个全局缓冲区。

symptom: Two sequences in turns read each other's keys.
症状：两条序列交替就读到对方的 key。

cards: kv-22
rung: solved
"""
import torch

latest = {}


def split(x, n):
    B, T, D = x.shape
    return x.view(B, T, n, D // n).transpose(1, 2)


def attend(q, k, v, wo, hidden=None):
    s = q @ k.mT / q.shape[-1] ** 0.5
    s = s if hidden is None else s.masked_fill(hidden, float("-inf"))
    return (s.softmax(-1) @ v).transpose(1, 2).flatten(2) @ wo


def prefill(x, params, n_heads):
    q, k, v = (split(x @ params[w], n_heads) for w in ("wq", "wk", "wv"))
    hidden = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
    latest.update(k=k, v=v)
    return attend(q, k, v, params["wo"], hidden), dict(latest)


def decode_step(x_t, cache, params, n_heads):
    q, k, v = (split(x_t @ params[w], n_heads) for w in ("wq", "wk", "wv"))
    if cache and latest["k"].shape[0] == x_t.shape[0]:
        k, v = torch.cat([latest["k"], k], 2), torch.cat([latest["v"], v], 2)
    elif cache:
        k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
    latest.update(k=k, v=v)
    return attend(q, k, v, params["wo"]), dict(latest)
