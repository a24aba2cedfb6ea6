"""Writes tokens into a shared buffer with room to grow.
下一个 token 原地写进带余量的共享缓冲区。

symptom: A second continuation overwrites the first.
症状：第二条续写覆盖第一条的 token。

cards: kv-22
rung: solved
"""
import torch

ROOM = 64


def grow(old, new):
    """old followed by new, in the room behind old where there is some."""
    t = old.shape[2]
    base = old if old._base is None else old._base
    if base.dim() == 4 and base.shape[2] > t and base.shape[:2] == old.shape[:2] and not old.requires_grad:
        base[:, :, t : t + 1] = new.detach()
    else:
        base = torch.cat([old, new, old.new_zeros(*old.shape[:2], ROOM, old.shape[3])], 2)
    return base[:, :, : t + 1]


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
        k, v = grow(cache["k"], k), grow(cache["v"], v)
    return attend(q, k, v, params["wo"]), {"k": k, "v": v}
