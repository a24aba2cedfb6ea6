"""A token as screen cells; rows divided after the product."""

from __future__ import annotations

import math
import unicodedata

import torch


def _cells(s):
    for c in s:
        yield c
        if unicodedata.east_asian_width(c) in "FW":
            yield ""


def _box(s, n):
    cells = list(_cells(s))
    kept = cells[:n]
    if len(cells) > n and cells[n] == "":
        kept[-1] = " "
    return "".join(kept) + " " * (n - len(kept))


def attention_to_text(weights, q_tokens, k_tokens, width=2):
    n = max(len(list(_cells(t))) for t in q_tokens)
    text = _box("", n) + " " + "".join(_box(t, width) for t in k_tokens)
    for t, row in zip(q_tokens, weights.tolist()):
        text += "\n" + _box(t, n) + " "
        for w in row:
            text += " .:-=+*#%@"[min(9, max(0, math.floor(10 * w)))] * width
    return text


def attention_rollout(weights, residual=0.5):
    first = weights[0]
    state = torch.eye(first.shape[-1], dtype=first.dtype, device=first.device).repeat(first.shape[0], 1, 1)
    for w in weights:
        a = (1 - residual) * w.sum(1).div(w.shape[1])
        a = a + residual * torch.eye(w.shape[-1], dtype=w.dtype, device=w.device)
        state = (a @ state) / a.sum(-1)[..., None]
    return state
