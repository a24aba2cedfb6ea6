"""Attends with as many queries as keys and keeps the last row.
有多少 key 就算多少个 query，只取最后一行。

symptom: Right; a step is quadratic in the prefix.
症状：结果对，单步却是前缀长度的平方。

cards: kv-03, mask-07
rung: solved
"""
import torch


def split(x, n):
    B, T, D = x.shape
    return x.view(B, T, n, D // n).transpose(1, 2)


def attend(q, k, v, wo):
    T = k.shape[2]
    hidden = torch.ones(T, T, dtype=torch.bool, device=q.device).triu(1)
    s = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(hidden, float("-inf"))
    return (s.softmax(-1) @ v).transpose(1, 2).flatten(2) @ wo


def prefill(x, params, n_heads):
    q, k, v = (split(x @ params[w], n_heads) for w in ("wq", "wk", "wv"))
    return attend(q, k, v, params["wo"]), {"k": k, "v": v}


def decode_step(x_t, cache, params, n_heads):
    q, k, v = (split(x_t @ params[w], n_heads) for w in ("wq", "wk", "wv"))
    if cache:
        k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
    y = attend(q.expand(-1, -1, k.shape[2], -1), k, v, params["wo"])
    return y[:, -1:].clone(), {"k": k, "v": v}
