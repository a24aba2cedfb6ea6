"""Prefills without a causal mask.
prefill 没加因果掩码。

symptom: The prompt sees later tokens.
症状：提示部分会看到后面的 token。

cards: mask-07
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
    return attend(q, k, v, params["wo"]), {"k": k, "v": v}


def decode_step(x_t, cache, params, n_heads):
    q, k, v = (split(x_t @ params[w], n_heads) for w in ("wq", "wk", "wv"))
    if cache:
        k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
    return attend(q, k, v, params["wo"]), {"k": k, "v": v}
