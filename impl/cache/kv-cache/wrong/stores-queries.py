"""Stores queries too.
把 query 也存了。

symptom: The cache is half as large again.
症状：cache 大了一半。

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
    return attend(q, k, v, params["wo"], hidden), {"k": k, "v": v, "q": q}


def decode_step(x_t, cache, params, n_heads):
    q, k, v = (split(x_t @ params[w], n_heads) for w in ("wq", "wk", "wv"))
    if cache:
        k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
    past = torch.cat([cache["q"], q], 2) if cache else q.clone()
    return attend(q, k, v, params["wo"]), {"k": k, "v": v, "q": past}
