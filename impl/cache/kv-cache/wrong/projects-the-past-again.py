"""Projects as many tokens as the whole past has.
每步投影和前缀一样长的序列。

symptom: Right; a step costs a prefill.
症状：结果对，一步等于一次 prefill。

cards: kv-03
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
    t = cache["k"].shape[2] if cache else 0
    x = torch.cat([x_t.new_zeros(x_t.shape[0], t, x_t.shape[2]), x_t], 1)
    q, k, v = (split(x @ params[w], n_heads)[:, :, t:] for w in ("wq", "wk", "wv"))
    if cache:
        k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
    return attend(q, k, v, params["wo"]), {"k": k.contiguous(), "v": v.contiguous()}
