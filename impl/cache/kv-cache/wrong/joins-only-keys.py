"""Joins keys only, with the new value for all.
只拼 key，value 全用新的。

symptom: Steps return their own token's value.
症状：每步返回自己的 value。

cards: kv-01
rung: solved
"""
import torch


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
    return attend(q, k, v, params["wo"], hidden), {"k": k, "v": v}


def decode_step(x_t, cache, params, n_heads):
    q, k, v = (split(x_t @ params[w], n_heads) for w in ("wq", "wk", "wv"))
    if cache:
        k = torch.cat([cache["k"], k], 2)
        v = v.expand(-1, -1, k.shape[2], -1).clone()
    return attend(q, k, v, params["wo"]), {"k": k, "v": v}
